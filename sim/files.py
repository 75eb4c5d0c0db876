"""Reading the text files a user names: whole, and never waiting for a pipe or a device that has no end."""

from __future__ import annotations

from pathlib import Path

TEXT_MOST = 2_000_000  # bytes; some hundred times the longest shipped file


def read_text(path: Path) -> str:
    """The file's text, without a byte order mark. Raises ValueError, which says in words why it cannot be read."""
    try:
        size = path.stat().st_size
        if not path.is_file():
            raise ValueError(f"cannot be read ({'it is a folder' if path.is_dir() else 'not a regular file'})")
        if size > TEXT_MOST:
            raise ValueError(f"cannot be read ({size:,} bytes; at most {TEXT_MOST:,} are allowed)")
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text (byte {error.start})") from None
    except OSError as error:
        raise ValueError(f"cannot be read ({error.strerror or error})") from None
