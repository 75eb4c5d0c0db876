"""One module per game, each holding its rules whole. `GAMES` is the only list of them."""

GAMES: dict[str, str] = {
    "mint-tin": "sim.games.mint_tin",
    "scoundrel": "sim.games.scoundrel",
    "kitty-paw": "sim.games.kitty_paw",
}
