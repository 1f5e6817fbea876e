"""Amounts of money as card rooms write them: ``$1,250.10``, ``€0,50``, ``1'000``, ``1 000``.

A point or comma before one or two final digits begins the decimals; any other sign between digits separates thousands.
``1,000`` could still be a thousand or one, so a hand that uses one sign for both is refused.
"""

from __future__ import annotations

import re
from typing import Final

from logs.errors import HandError

# Clients group digits with a space, or with a no-break, thin or narrow no-break space.
_BLANKS: Final = " \u00a0\u2009\u202f"
AMOUNT: Final = rf"((?:[^\w\s(]\s?)?[0-9](?:[0-9.,'\u2019{_BLANKS}]*[0-9])?)"
"""Pattern of a number and the sign of its currency, which in old files is a byte that is not UTF-8."""
_DECIMALS: Final = re.compile(r"[.,]([0-9]{1,2})$")
_SAME_SIGN: Final = str.maketrans({"\u2019": "'"} | dict.fromkeys(_BLANKS, " "))
_SIGN_NAMES: Final = {" ": "a blank", "'": "an apostrophe", ",": "a comma", ".": "a point"}


class Amounts:
    """Parser of the amounts of one hand.

    Attributes:
        symbol: symbol of the currency in the header; empty for play money.
    """

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        self._uses: dict[str, str] = {}

    def cents(self, text: str, line: int) -> int:
        """Parse an amount to hundredths.

        Args:
            text: a match of `AMOUNT`.
            line: line of the hand, 0-based, for the error.

        Raises:
            HandError: the text is in another currency, is not an amount, or is ambiguous.
        """
        # Most amounts are whole and without separators.
        if text.startswith(self.symbol):
            whole = text[len(self.symbol) :]
            if whole.isdecimal():
                return int(whole) * 100
        symbol = ""
        if not text[0].isdecimal():
            symbol = text[0]
        if symbol != self.symbol:
            wanted = "without a currency"
            if self.symbol:
                wanted = f"in {self.symbol}"
            raise HandError(f"{text!r} is not {wanted}, as the stakes of the hand are", line)
        whole = text[len(symbol) :].lstrip()
        cents = 0
        decimals = _DECIMALS.search(whole)
        if decimals is not None:
            whole = whole[: decimals.start()]
            cents = int(decimals[1].ljust(2, "0"))
            self._note_use(decimals[0][0], "before decimals", text, line)
        if not whole.isdecimal():
            whole = self._without_signs(whole, text, line)
        return int(whole) * 100 + cents

    def _without_signs(self, number: str, text: str, line: int) -> str:
        """Remove the signs between thousands."""
        first, *groups = re.split(r"[^0-9]", number)
        signs = set(re.sub(r"[0-9]", "", number).translate(_SAME_SIGN))
        is_first_valid = 1 <= len(first) <= 3 and first[0] != "0"
        if len(signs) != 1 or not is_first_valid or any(len(group) != 3 for group in groups):
            raise HandError(f"{text!r} is not an amount of money", line)
        self._note_use(signs.pop(), "between thousands", text, line)
        return first + "".join(groups)

    def _note_use(self, sign: str, use: str, text: str, line: int) -> None:
        if self._uses.setdefault(sign, use) != use:
            name = _SIGN_NAMES[sign]
            raise HandError(
                f"{text!r} is ambiguous: the amounts of this hand have {name} before decimals and between thousands",
                line,
            )
