"""Environments for training: every game as a PettingZoo table, a Gymnasium seat, or hands in batches.

    from bots.environments import SeatEnv

    env = SeatEnv("limit", "cfr")
    observation, info = env.reset(seed=7)

`TableEnv` (PettingZoo) asks for the actions of all seats, `SeatEnv` (Gymnasium) for those of one seat against bots, and
`SeatVectorEnv` for those of one seat at many tables. `HandBatch` plays hands side by side in compiled code and needs
neither library. An episode is one hand, and rewards are in big blinds. The cards are those of ``arena play`` with the
same seed.
"""

from typing import TYPE_CHECKING, Any

__all__ = ["ActionMenu", "HandBatch", "ObservationLayout", "SeatEnv", "SeatVectorEnv", "TableEnv"]

if TYPE_CHECKING:
    from bots.environments.action_menu import ActionMenu
    from bots.environments.hand_batch import HandBatch
    from bots.environments.observation import ObservationLayout
    from bots.environments.seat_env import SeatEnv
    from bots.environments.table_env import TableEnv
    from bots.environments.vector_env import SeatVectorEnv

_MODULES = {
    "ActionMenu": "action_menu",
    "HandBatch": "hand_batch",
    "ObservationLayout": "observation",
    "SeatEnv": "seat_env",
    "SeatVectorEnv": "vector_env",
    "TableEnv": "table_env",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    try:
        module = import_module(f"{__name__}.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        if error.name not in ("gymnasium", "pettingzoo"):
            raise
        raise ImportError(f"{name} needs {error.name}: pip install 'acpc-arena[rl]'", name=error.name) from None
    return getattr(module, name)
