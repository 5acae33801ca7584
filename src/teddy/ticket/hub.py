"""Tickets on the Hugging Face Hub: a repository with the file and its card.

The package huggingface_hub (extra ``hub``) does the work: its token, cache, ``HF_ENDPOINT`` and
``HF_HUB_OFFLINE`` apply as for any other model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from textwrap import shorten
from typing import Any

from teddy.errors import InputError
from teddy.store.atomic import StrPath
from teddy.ticket.description import model_card
from teddy.ticket.info import TicketInfo

#: Name of the file in a repository, with an ending that the Hub recognises.
FILE = "ticket.safetensors"

#: Prefix of a ticket on the Hub in place of a file: ``hub:owner/name@revision``.
PREFIX = "hub:"


def push(
    file: Path,
    info: TicketInfo,
    repo_id: str,
    private: bool = False,
    revision: str | None = None,
    token: str | None = None,
) -> str:
    """Upload a ticket's file and its card in one commit; return the commit's address.

    Args:
        file: Ticket file.
        info: Its header.
        repo_id: ``owner/name``; a missing repository is created.
        private: Whether only its owner may see it.
        revision: Branch; a missing one is created.
        token: Token of the Hub; by default that of ``hf auth login``.

    Raises:
        InputError: if the upload fails; then there is no commit.
    """
    with _errors(repo_id, revision):
        from huggingface_hub import CommitOperationAdd, HfApi, get_token

        if token is None and get_token() is None:
            raise InputError(
                "no token for the Hub, expected one: run hf auth login, or set HF_TOKEN"
            )
        api = HfApi(token=token)
        repo_id = api.create_repo(repo_id, private=private or None, exist_ok=True).repo_id
        if private and not api.model_info(repo_id).private:
            raise InputError(
                f"{PREFIX}{repo_id}: is public already, expected a private or new repository"
            )
        if revision is not None:
            api.create_branch(repo_id, branch=revision, exist_ok=True)
        card = model_card(info, repo_id).encode()
        operations = [
            CommitOperationAdd(path_in_repo=FILE, path_or_fileobj=file),
            CommitOperationAdd(path_in_repo="README.md", path_or_fileobj=card),
        ]
        message = f"A ticket of {info.dataset}, {info.edges.kept} of {info.edges.total} edges"
        done = api.create_commit(
            repo_id, operations, commit_message=shorten(message, 70), revision=revision
        )
        return str(done.commit_url)


def download(repo_id: str, revision: str | None = None, token: str | None = None) -> Path:
    """Return the file of a ticket on the Hub, from the cache where it is the same.

    Raises:
        InputError: if the download fails.
    """
    with _errors(repo_id, revision):
        from huggingface_hub import hf_hub_download

        return Path(hf_hub_download(repo_id, FILE, revision=revision, token=token))


def is_on_hub(path: StrPath) -> bool:
    """Return whether a path is on the Hub.

    Example:
        >>> is_on_hub("hub:me/citeseer-gin"), is_on_hub("citeseer-gin.ticket")
        (True, False)
    """
    return str(path).startswith(PREFIX)


def local_file(path: StrPath) -> Path:
    """Return the local file of a path, downloaded first if it is on the Hub.

    Example:
        >>> local_file("citeseer-gin.ticket").name
        'citeseer-gin.ticket'
    """
    if not is_on_hub(path):
        return Path(path)
    repo_id, _, revision = str(path).removeprefix(PREFIX).partition("@")
    return download(repo_id, revision or None)


@contextmanager
def _errors(repo_id: str, revision: str | None) -> Iterator[None]:
    """Turn errors of huggingface_hub into one line."""
    if find_spec("huggingface_hub") is None:
        raise InputError("the Hub needs huggingface_hub: pip install 'teddy-glt[hub]'")
    from huggingface_hub import errors

    place = f"{PREFIX}{repo_id}"
    try:
        yield
    except InputError:
        raise
    except errors.HFValidationError as error:
        raise InputError(f"{place}: expected owner/name ({_reason(error)})") from None
    except errors.GatedRepoError:
        raise InputError(
            f"{place}: the repository is gated, expected access: request it on its page"
        ) from None
    except errors.RepositoryNotFoundError:
        raise InputError(f"{place}: no such repository, or no access with this token") from None
    except errors.RevisionNotFoundError:
        raise InputError(
            f"{place}: no revision '{revision}', expected a branch, tag or commit"
        ) from None
    except errors.LocalEntryNotFoundError:
        raise InputError(f"{place}: not in the cache, and the Hub cannot be reached") from None
    except errors.EntryNotFoundError:
        raise InputError(f"{place}: has no {FILE}, expected a ticket's repository") from None
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        reason = "the token has no permission" if status in (401, 403) else _reason(error)
        raise InputError(f"{place}: the Hub refused with status {status} ({reason})") from None
    except (OSError, ValueError, RuntimeError, errors.HTTPError) as error:
        raise InputError(f"{place}: the Hub cannot be used ({_reason(error)})") from None


def _reason(error: Any) -> str:
    return shorten(str(error) or type(error).__name__, 120, placeholder="...")
