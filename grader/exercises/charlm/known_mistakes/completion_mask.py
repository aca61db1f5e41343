"""Wrong answers to `completion_mask`, one per mistake."""

import torch
from torch import Tensor


def leaves_the_end_out():
    """you leave out the end token; stopping was the policy's choice, so the end token is included

    Without it, no gradient says whether it was good to stop there. The policy does not learn to stop, and its
    completions grow until they are cut off.
    """
    """
    - ends_before = is_end.cumsum(dim=-1) - is_end.long()
    + ends_before = is_end.cumsum(dim=-1)
    """


def keeps_what_stands_behind_the_end():
    """you keep everything after the prompt; after its first end a row is only padding, which is left out

    The policy then learns from letters that it never wrote, and a short completion has as many tokens as the longest
    one of the batch.
    """
    """
    - return written & (ends_before == 0)
    + return written & (ends_before >= 0)
    """


def keeps_one_token_after_the_end():
    """you keep one token after the first end; the end is the last token to include

    That token is padding: nobody sampled it, so the policy learns from a letter that it never wrote.
    """
    """
    - ends_before = is_end.cumsum(dim=-1) - is_end.long()
    + ends_before = is_end.cumsum(dim=-1) - is_end.long()
    + ends_before = torch.nn.functional.pad(ends_before, (1, 0))[:, :-1]
    """


def keeps_up_to_the_second_end():
    """you keep everything up to the second end; the completion ends with its first one

    The count of ends is 1 at the first end and stays 1 until the second. At the first end itself, no end has come
    before.
    """
    """
    - return written & (ends_before == 0)
    + return written & (ends_before <= 1)
    """


def keeps_what_follows_until_the_second_end():
    """you keep the tokens after the first end until the second end token; nothing after the first end is included

    `is_end.cumsum(dim=-1) <= 1` is also true behind the first end, until the next one. Count the ends before each token
    instead: at the first end there are none.
    """
    """
    - ends_before = is_end.cumsum(dim=-1) - is_end.long()
    + ends_before = (is_end.cumsum(dim=-1) > 1).long()
    """


def masks_every_end_token():
    """you mask all tokens that equal the end; the first end of the completion is included, whatever follows it

    Padding also uses the end token, so their numbers do not distinguish the two. Masking both means that the policy
    never learns to stop, and letters after the end are kept.
    """
    """
    - return written & (ends_before == 0)
    + return written & ~is_end
    """


def lets_an_end_in_the_prompt_count():
    """you look for the first end in the whole row; an end inside the prompt is ignored

    A prompt with a full stop then gives a completion without tokens, and the policy learns nothing from that row. Look
    for the end only among the tokens of the completion.
    """
    """
    - is_end = (tokens[:, 1:] == eos_id) & written
    + is_end = tokens[:, 1:] == eos_id
    """


def begins_one_token_early():
    """you start with the last token of the prompt; the first entry to include belongs to token prompt_length

    In every row the policy then learns from a token that it did not write. Off by one is the usual mistake with shifted
    masks.
    """
    """
    - written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length
    + written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length - 1
    """


def begins_one_token_late():
    """you leave out the first token of the completion; entry t already belongs to token t + 1, so do not shift again

    The first letter decides most of what follows, but the policy never learns from it. For a completion that is only an
    end, the padding counts instead.
    """
    """
    - written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length
    + written = torch.arange(tokens.shape[-1] - 1, device=tokens.device) >= prompt_length
    """


def begins_one_token_late_but_sees_its_end():
    """you mask the first token of the completion; the policy sampled it, so it is included

    The first letter decides most of what follows, but the policy never learns from it. Entry prompt_length - 1 of the
    mask belongs to it.
    """
    """
    - return written & (ends_before == 0)
    + return written & (ends_before == 0) & (torch.arange(tokens.shape[-1] - 1, device=tokens.device) >= prompt_length)
    """


def has_an_entry_for_the_first_token():
    """you return an entry for each of the T tokens; nothing predicts the first one, so there are T - 1

    The entries are right, but they do not match the log-probabilities, whose entry t belongs to token t + 1. Leave out
    the first one.
    """
    """
    - written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length
    - is_end = (tokens[:, 1:] == eos_id) & written
    + written = torch.arange(tokens.shape[-1], device=tokens.device) >= prompt_length
    + is_end = (tokens == eos_id) & written
    """


def drops_the_last_entry_instead_of_the_first():
    """you make a mask of T tokens and drop its last entry; entry t belongs to token t + 1, so drop the first one

    The shape is right, but every entry is one place too far to the right: the first letter of each completion is
    masked, and one token of the padding counts.
    """
    """
    - written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length
    - is_end = (tokens[:, 1:] == eos_id) & written
    + written = torch.arange(tokens.shape[-1] - 1, device=tokens.device) >= prompt_length
    + is_end = (tokens[:, :-1] == eos_id) & written
    """


def looks_for_the_end_one_token_early():
    """you look for the end in tokens[:, :-1]; entry t belongs to token t + 1, so look in tokens[:, 1:]

    The completion then ends one entry too late, so one token of the padding counts.
    """
    """
    - is_end = (tokens[:, 1:] == eos_id) & written
    + is_end = (tokens[:, :-1] == eos_id) & written
    """


def goes_on_to_the_last_end(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """you continue to the last end of the row; the completion ends with its first one

    Rows are padded with the end token, so the last end is the end of the row and all of the padding counts.
    """
    places = torch.arange(1, tokens.shape[-1], device=tokens.device)  # (T - 1,)
    is_end = (tokens[:, 1:] == eos_id) & (places >= prompt_length)  # (B, T - 1)
    last = torch.where(is_end, places, -1).amax(dim=-1, keepdim=True)  # (B, 1)
    last = torch.where(last < 0, tokens.shape[-1], last)
    return (places >= prompt_length) & (places <= last)


def masks_completions_without_an_end():
    """you mask a completion that never ends; it was cut off, and all of its tokens are included

    Some recipes leave out such completions on purpose. Here the policy wrote all of these letters, and it can learn
    from them that it should have stopped.
    """
    """
    - return written & (ends_before == 0)
    + return written & (ends_before == 0) & is_end.any(dim=-1, keepdim=True)
    """


def takes_a_missing_end_for_one_at_once():
    """you keep one token of a completion without an end; without an end the whole completion is included

    argmax is 0 even if there is no end to find, so a completion that was cut off keeps only its first token. Such
    completions are the longest of the batch, and the policy learns nothing from the rest of them.
    """
    """
    - is_end = (tokens[:, 1:] == eos_id) & written
    + is_end = (tokens[:, 1:] == eos_id) & written
    + first = torch.arange(1, tokens.shape[-1], device=tokens.device) == prompt_length
    + is_end = is_end | (first & ~is_end.any(dim=-1, keepdim=True))
    """


def counts_the_ends_down_the_batch():
    """you add up the ends along the batch, with dim=0; a completion ends with its own end, so add up along its row

    Where a row ends then depends on the rows above it, and no row that is alone in its batch ever ends. Another order
    of the same completions gives another loss.
    """
    """
    - ends_before = is_end.cumsum(dim=-1) - is_end.long()
    + ends_before = is_end.cumsum(dim=0) - is_end.long()
    """


def cuts_the_ends_off_the_end_of_each_row(tokens: Tensor, prompt_length: int, eos_id: int) -> Tensor:
    """you remove the end tokens from the end of each row; include the first end, but nothing after it

    This removes the padding and the end of the completion, because both are the same token. With any other padding, it
    removes nothing.
    """
    written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length  # (T - 1,)
    is_letter = tokens[:, 1:] != eos_id  # (B, T - 1)
    letters_to_come = is_letter.flip(-1).cumsum(dim=-1).flip(-1)
    return written & (letters_to_come > 0)


def keeps_the_prompt():
    """you keep the prompt; include only the policy's own tokens

    The prompt was given, so no advantage belongs to it. If you keep it, it dilutes the completion, and the policy
    learns to write or avoid its questions.
    """
    """
    - return written & (ends_before == 0)
    + return ends_before == 0
    """


def inverts_the_mask():
    """you return True for prompt and padding; True marks the tokens that the policy sampled

    Some libraries mark what to ignore. Here the mask says what counts, so the policy would learn from everything but
    its own text.
    """
    """
    - return written & (ends_before == 0)
    + return ~(written & (ends_before == 0))
    """


def always_ends_at_token_0():
    """you look for token 0, or EOS_ID, whatever eos_id says; the end is the token that the caller names

    In this course the two agree, so training runs do not show it. With another alphabet you find no end, or mistake a
    letter for one.
    """
    """
    - is_end = (tokens[:, 1:] == eos_id) & written
    + is_end = (tokens[:, 1:] == EOS_ID) & written
    """


def overwrites_the_prompt():
    """you overwrite the caller's tokens to remove ends in the prompt; never change arguments

    The mask is right, but the log-probabilities computed afterwards belong to a different text, or their computation
    stops with an error. Work on a new tensor.
    """
    """
    + tokens[:, :prompt_length] = -1
      written = torch.arange(1, tokens.shape[-1], device=tokens.device) >= prompt_length
    """


def makes_one_mask_for_the_batch():
    """you return one row for the whole batch; each completion has its own mask, shape (B, T - 1)

    Completions end at different places, so each row of tokens needs its own entries.
    """
    """
    - return written & (ends_before == 0)
    + return (written & (ends_before == 0))[0]
    """
