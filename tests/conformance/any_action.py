"""A user's own policy for the tests: every legal action is as likely."""

from policies.tools import draw_legal, policy


@policy
def any_action(view, legal, rules, stream):
    """Uniform over the legal actions."""
    return draw_legal(stream, legal)
