"""Wrong answers to `token_logp`, one per mistake."""


def compares_with_the_token_just_read():
    """you compare the prediction made after token t with token t itself; it predicts token t + 1

    The model has seen token t when it makes this prediction, so the numbers say how likely it is to repeat the letter.
    Training on them teaches the policy to repeat itself.
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return logp.gather(-1, tokens[:, :-1, None]).squeeze(-1)
    """


def drops_the_first_prediction():
    """you drop the first prediction and the first token; drop the last prediction instead, whose token was never drawn

    Dropping the same end of both does not shift them: each prediction is still paired with the token that the model has
    just read. The predictions without the last one belong to the tokens without the first one.
    """
    """
    - logits = model(tokens)[:, :-1]
    + logits = model(tokens)[:, 1:]
    """


def shifts_the_wrong_way():
    """you compare the prediction made after token t + 1 with token t; a prediction is about the token after it

    The numbers are for a text read backwards by a model that knows the answer already. With real text they are far too
    low nearly everywhere.
    """
    """
    - logits = model(tokens)[:, :-1]
    + logits = model(tokens)[:, 1:]
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return logp.gather(-1, tokens[:, :-1, None]).squeeze(-1)
    """


def does_not_shift_at_all():
    """you pick token t from the prediction made after token t, for all T tokens; predictions are about the next token

    The result has one entry too many, and each says how likely the model is to repeat the letter it has just read. Drop
    the last prediction and the first token.
    """
    """
    - logits = model(tokens)[:, :-1]
    + logits = model(tokens)
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return logp.gather(-1, tokens[..., None]).squeeze(-1)
    """


def drops_the_last_token_before_the_model():
    """you do not give the model the last token, and you shift again; T tokens have T - 1 log-probabilities

    One shift is enough: predictions for all tokens but the last, tokens from the second on.
    """
    """
    - logits = model(tokens)[:, :-1]
    + logits = model(tokens[:, :-1])[:, :-1]
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return logp.gather(-1, tokens[:, 1:-1, None]).squeeze(-1)
    """


def puts_a_zero_in_front():
    """you put a 0 in front, for the first token; here it has no entry, so T tokens have T - 1 entries

    Some libraries pad the row like this. In this course, tensors for predicted tokens have no entry for the first
    token, and the mask does not fit a longer row.
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return torch.nn.functional.pad(logp.gather(-1, tokens[:, 1:, None]).squeeze(-1), (1, 0))
    """


def returns_probabilities():
    """you take the softmax without a logarithm; this function returns log-probabilities

    They are between 0 and 1, but a log-probability is never positive. The importance ratio is exp of a difference of
    logarithms; for improbable tokens it would stay near 1 whatever happens to them.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)
    + logp = torch.softmax(logits, dim=-1)
    """


def normalises_over_the_positions():
    """you take the softmax over the positions of a row; it belongs on the last axis, the vocabulary

    The shapes are right, so nothing complains. With a single prediction in the row every log-probability is 0, and with
    more of them each depends on what comes later in the text.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)
    + logp = torch.log_softmax(logits, dim=-2)
    """


def normalises_over_all_the_positions():
    """you take the softmax over all positions of the row, the last one included; it belongs on the vocabulary

    The vocabulary is the last axis, dim=-1. With dim=1 each number depends on what comes later in the text.
    """
    """
    - logits = model(tokens)[:, :-1]
    - logp = torch.log_softmax(logits, dim=-1)
    + logits = model(tokens)
    + logp = torch.log_softmax(logits, dim=1)[:, :-1]
    """


def normalises_over_the_batch():
    """you take the softmax over the rows of the batch; it belongs on the last axis, the vocabulary

    The shapes are right, so nothing complains. With a single row every log-probability is 0, and with more of them each
    depends on the other completions.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)
    + logp = torch.log_softmax(logits, dim=0)
    """


def normalises_over_batch_positions_and_vocabulary():
    """you normalize over all logits of the batch at once; normalize over the vocabulary at each position

    Every log-probability then depends on the whole batch, and those of one position do not add up to 1.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)
    + logp = logits - logits.logsumexp(dim=(0, 1, 2))
    """


def takes_the_likeliest_token():
    """you return the log-probability of the likeliest token; return the one of the token that was drawn

    The policy learns from what it sampled. The maximum is right only where it happened to draw the likeliest token.
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return logp.amax(dim=-1)
    """


def returns_all_tokens_of_the_vocabulary():
    """you return the log-probabilities of the whole vocabulary, shape (B, T - 1, V); pick the token that was drawn

    gather picks one number per position: `logp.gather(-1, index)` with the next tokens as the index.
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return logp
    """


def sums_over_the_row():
    """you return the sum over each row; this function returns one number per predicted token

    The sum is the log-probability of the whole row, including prompt and padding. You can only mask these token by
    token, so not after the sum.
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1).sum(dim=-1)
    """


def averages_over_the_row():
    """you return the mean of each row; this function returns one number per predicted token

    Prompt and padding are part of that mean, and you can no longer mask them. The loss takes means later, with the
    mask.
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1).mean(dim=-1)
    """


def returns_the_cross_entropy():
    """you return the cross-entropy, which is minus the log-probability; this function returns the log-probability

    Cross-entropy is a loss and never negative, a log-probability is never positive. With the sign flipped every ratio
    is the inverse of what it must be, and the policy learns the opposite.
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return -logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    """


def forgets_the_squeeze():
    """you leave the last axis of gather in place, shape (B, T - 1, 1); the result has shape (B, T - 1)

    gather keeps the axis along which it picks. With it, (B, T - 1, 1) and a mask of (B, T - 1) broadcast to three axes,
    and each completion is combined with the masks of all the others.
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return logp.gather(-1, tokens[:, 1:, None])
    """


def squeezes_every_axis():
    """you call squeeze without an axis, which also drops a batch of one row; squeeze only the last axis

    Batches of several rows are right. With a single row, or rows of two tokens, the result lacks an axis, and the code
    after it fails or broadcasts.
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return logp.gather(-1, tokens[:, 1:, None]).squeeze()
    """


def picks_for_each_row_the_tokens_of_all():
    """you index the positions and the tokens but not the rows, so each row gets the tokens of all rows

    The result has three axes, (B, B, T - 1), with the right values on its diagonal. Index the rows as well, or use
    gather, which does it for you.
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return logp[:, torch.arange(tokens.shape[1] - 1, device=tokens.device), tokens[:, 1:]]
    """


def shows_the_model_one_token_at_a_time():
    """you give the model one token at a time; a prediction depends on all tokens before it and on where they are

    For a bigram table this makes no difference, because it looks only at the last letter. A GPT then treats every
    letter as the first one of a text.
    """
    """
    - logits = model(tokens)[:, :-1]
    + logits = torch.cat([model(tokens[:, t : t + 1]) for t in range(tokens.shape[1] - 1)], dim=1)
    """


def takes_token_0_for_padding():
    """you give token 0 a log-probability of 0, as if it were padding; here it is a token like the others

    The mask decides later which positions count. `cross_entropy` with `ignore_index=0` does the same.
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1).masked_fill(tokens[:, 1:] == 0, 0.0)
    """


def detaches_the_normalizer():
    """you detach the sum under the softmax; it depends on the model like the token's own logit, and has a gradient

    All values are right. But the gradient is 1 for the token that came and 0 for every other one, without the minus
    pi: training raises logits and lowers none, and a token that is certain already is still pushed.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)
    + logp = logits - logits.detach().logsumexp(dim=-1, keepdim=True)
    """


def stops_the_gradient_of_improbable_tokens():
    """you stop the gradient of tokens with a probability below 0.0001; every sampled token has a gradient

    All values are right. A token that is improbable and good is what the policy could learn most from, and here it
    learns nothing from it.
    """
    """
    - return logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + logp = logp.gather(-1, tokens[:, 1:, None]).squeeze(-1)
    + return torch.where(logp < -9.2, logp.detach(), logp)
    """


def returns_float32():
    """you always convert the logits to float32; this function keeps their dtype

    For bfloat16 logits this is good practice, but for float64 it throws away half of the digits. Here the result has
    the dtype of the logits, so the caller decides.
    """
    """
    - logp = torch.log_softmax(logits, dim=-1)
    + logp = torch.log_softmax(logits.float(), dim=-1)
    """
