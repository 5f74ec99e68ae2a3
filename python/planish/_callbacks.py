"""Fits as tasks of scikit-learn's callbacks, which it has from 1.9 on.

A fit is a task, each of its stages a task within it, and each hundredth of a stage a
task within that: ``set_callbacks(ProgressBar())`` draws a bar for every stage. With an
older scikit-learn nothing of it is there and everything else works the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])

if TYPE_CHECKING:

    class CallbackSupport:
        """What gives an estimator ``set_callbacks``."""

    def with_callbacks(method: Method) -> Method:
        """Tear the callbacks down after the method, however it ends."""
        ...

else:
    try:
        from sklearn.callback import CallbackSupportMixin as CallbackSupport
        from sklearn.callback import with_callbacks
    except ImportError:  # scikit-learn before 1.9

        class CallbackSupport:
            """Nothing: this scikit-learn has no callbacks."""

        def with_callbacks(method):
            """Return the method as it is."""
            return method


# Tasks a stage is divided into.
_PARTS = 100


class FitTasks:
    """The tasks of one fit. Callbacks that ask for an early stop are not heeded."""

    def __init__(self, estimator: Any, X: Any, y: Any = None) -> None:
        self.estimator = estimator
        self.data = {"X": X, "y": y}
        self.root: Any = None
        self.stage: Any = None
        self.parts = 0
        self.at = ("", 0, False)
        if hasattr(estimator, "_init_callback_context"):
            # How many stages there will be is not known: they depend on the data.
            self.root = estimator._init_callback_context(max_subtasks=None)
            self.root.call_on_fit_task_begin(estimator=estimator, **self.data)

    @property
    def report(self) -> Callable[[str, int, int], None] | None:
        """What the core reports to, if anyone listens."""
        return self if getattr(self.estimator, "_skl_callbacks", None) else None

    def __call__(self, stage: str, done: int, total: int) -> None:
        """Report that ``done`` of ``total`` steps of ``stage`` are finished."""
        name, before, measured = self.at
        if self.stage is None or stage != name or done < before or (total > 0) != measured:
            self._end_stage()
            self.parts = 0
            self.stage = self.root.subcontext(
                task_name=stage or "start", max_subtasks=_PARTS if total else None
            )
            self.stage.call_on_fit_task_begin(estimator=self.estimator, **self.data)
        self.at = (stage, done, total > 0)
        share = _PARTS * min(done, total) // total if total else 0
        while self.parts < share:
            self.parts += 1
            part = self.stage.subcontext(task_name=stage)
            part.call_on_fit_task_begin(estimator=self.estimator, **self.data)
            part.call_on_fit_task_end(estimator=self.estimator, **self.data)

    def end(self) -> None:
        """Tell that the fit is done; the estimator is ready to be used."""
        self._end_stage()
        if self.root is not None:
            # A copy of the estimator as it is now is the fitted one that callbacks may ask for.
            self.root.call_on_fit_task_end(
                estimator=self.estimator, **self.data, reconstruction_attributes=dict
            )

    def _end_stage(self) -> None:
        if self.stage is not None:
            self.stage.call_on_fit_task_end(estimator=self.estimator, **self.data)
            self.stage = None
