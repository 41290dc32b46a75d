"""The ledger: a SQLite file that keeps every run; the gradebook is a view of it (see the numbered ``.sql`` files)."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.errors import InfrastructureError, UsageError

FILE = "ledger.sqlite"
WAIT_S = 60  # for another writer to end
MIGRATIONS = sorted(Path(__file__).parent.glob("[0-9][0-9][0-9]_*.sql"))


class Ledger:
    """An open ledger. Safe beside other writers: each change is one transaction, begun as a writer."""

    def __init__(self, path: Path, create: bool = True) -> None:
        """Opens it, and brings it to this version's form.

        Raises:
            UsageError: there is none, and none is to be made.
            InfrastructureError: it cannot be opened, is damaged, or is of a later version.
        """
        if not create and not path.is_file():
            raise UsageError(f"there is no ledger at {path}; `./grade batch … --out {path.parent}` makes one")
        self.path = path
        try:
            self.connection = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)
            self.connection.row_factory = sqlite3.Row
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = FULL")
            self.connection.execute("PRAGMA foreign_keys = ON")
            self._migrate()
        except sqlite3.Error as error:
            raise InfrastructureError(f"the ledger {path} cannot be used: {error}") from error

    def _migrate(self) -> None:
        if self._version() == len(MIGRATIONS):
            return
        with self.writing():  # another grader may be at it: what is there is looked at again once it is our turn
            version = self._version()
            if version > len(MIGRATIONS):
                raise InfrastructureError(
                    f"the ledger {self.path} was written by a later version of the grader (form {version},"
                    f" this one knows {len(MIGRATIONS)}); use that version"
                )
            for number, file in enumerate(MIGRATIONS[version:], version + 1):
                for statement in _statements(file.read_text(encoding="utf-8")):
                    self.connection.execute(statement)
                self.connection.execute(f"PRAGMA user_version = {number}")

    def _version(self) -> int:
        return int(self.connection.execute("PRAGMA user_version").fetchone()[0])

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction: all of it, or nothing.

        Raises:
            UsageError: a text is no Unicode.
            InfrastructureError: it cannot be written.
        """
        try:
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield self.connection
            except BaseException:
                self.connection.execute("ROLLBACK")
                raise
            self.connection.execute("COMMIT")
        except sqlite3.Error as error:
            raise InfrastructureError(f"the ledger {self.path} cannot be written: {error}") from error
        except UnicodeEncodeError as error:
            raise UsageError(f"the ledger holds no text that is not Unicode: {error}") from error

    def rows(self, query: str, *values: object) -> list[sqlite3.Row]:
        """What a query finds; raises what ``each`` raises."""
        return list(self.each(query, *values))

    def each(self, query: str, *values: object) -> Iterator[sqlite3.Row]:
        """What a query finds, one after the other: for what has a line for each student and row.

        Raises:
            UsageError: it asks for a number beyond 64 bits, or a text that is no Unicode.
            InfrastructureError: the ledger cannot be read.
        """
        try:
            yield from self.connection.execute(query, values)
        except sqlite3.Error as error:
            raise InfrastructureError(f"the ledger {self.path} cannot be read: {error}") from error
        except (OverflowError, UnicodeEncodeError) as error:
            raise UsageError(f"no ledger holds a number or text like that: {error}") from error

    def close(self) -> None:
        """Closes it."""
        self.connection.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _statements(text: str) -> Iterator[str]:
    """The statements of a script; `executescript` would end the transaction."""
    statement = ""
    for line in text.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
