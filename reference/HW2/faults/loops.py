"""Mistakes of the training and the validation loop: told at the parameters that a student's hands over."""

from __future__ import annotations

from grader.faults import Fault

ORDER = "in which order do forward pass, loss, backward pass and step follow one another, and how often is each made?"
SLICE = "which sentences are to be in the first batch, in the second, in the last: from which index to which?"
LABELS = "which labels belong to the sentences of a batch?"
OLD = "which derivatives does a parameter have when the step is taken?"
WHAT = "of what is the backward pass made, and what is it multiplied with?"
TRAINING: dict[str, tuple[str, str]] = {
    "step-before-backward": ("the step is taken before the backward pass", ORDER),
    "no-backward": ("there is no backward pass", ORDER),
    "no-step": ("the optimiser never takes a step", ORDER),
    "step-twice": ("two steps are taken after one backward pass", ORDER),
    "step-once-an-epoch": ("a step is taken once an epoch, on the derivatives of its last batch", ORDER),
    "step-once-an-epoch-summed": ("a step is taken once an epoch, on the sum of its batches' derivatives", ORDER),
    "backward-twice": ("two backward passes are made for one step", ORDER),
    "on-validation": ("it trains on the validation data", "which of the two data sets is to be learnt from?"),
    "all-data": ("each step is given the whole training data", SLICE),
    "first-batch": ("every step is given the first batch", SLICE),
    "last-sentences": ("every step is given the last sentences", SLICE),
    "overlapping": ("each batch goes one sentence too far", SLICE),
    "short-batches": ("each batch ends one sentence too early", SLICE),
    "late-batches": ("each batch begins and ends one sentence too late", SLICE),
    "slice-to-the-size": ("the slice ends at the batch size, not that far after its start", SLICE),
    "slice-from-the-start": ("the slice begins with the first sentence each time, and grows", SLICE),
    "one-sentence": ("each step is given one sentence, the first of its batch", SLICE),
    "constant-size": ("a batch has 10 sentences, whatever batch size is asked for", SLICE),
    "first-sentence-on-top": ("each batch has the first sentence on top", SLICE),
    "last-batch-dropped": ("the last sentences of an epoch, which are no whole batch, are never used", SLICE),
    "labels-of-the-first": ("the labels are those of the first batch each time", LABELS),
    "labels-inverted": ("the labels are inverted", LABELS),
    "labels-shifted": ("the labels are those of the sentences one further on", LABELS),
    "zeroed-too-late": ("the derivatives are set to zero between the backward pass and the step", OLD),
    "not-zeroed": ("the derivatives of the steps before are still there", OLD),
    "other-network": (
        "the outputs come from another network than the one that is trained, so that its parameters get no derivatives",
        "where is a `Network` made, and which one does the loop call in each step?",
    ),
    "backward-of-output": ("the backward pass is that of the outputs' sum, not of the loss", WHAT),
    "loss-scaled": ("the loss is multiplied by the batch size", WHAT),
    "loss-divided": ("the loss is divided by the batch size", WHAT),
    "loss-negated": ("the loss has the wrong sign", WHAT),
}
DATA = "of which sentences does the validation loop make predictions, and how many are there?"
LIST = "what is added to which list in an epoch, and when is a list made anew?"
OWN = "what does `get_accuracy` give for an epoch's predictions, and what becomes of that number?"
VALIDATION: dict[str, tuple[str, str]] = {
    "on-training-data": ("it validates on the training data", DATA),
    "half": ("it validates on one half of the validation data", DATA),
    "last-batch": ("it takes the predictions of the last batch", DATA),
    "never-cleared": ("the predictions of all epochs are in one list", LIST),
    "no-predictions": ("the predictions are not in the list that is reported", LIST),
    "not-appended": ("the accuracy is not appended", LIST),
    "appended-twice": ("the accuracy is appended twice", LIST),
    "best-so-far": ("the accuracy is the best so far, not that of the epoch", OWN),
    "running-mean": ("the accuracy is the mean over the epochs so far", OWN),
    "percent": ("the accuracy is given in percent", OWN),
    "errors": ("the share of wrong predictions is given, not that of right ones", OWN),
    "constant": ("the accuracy is one number, whatever the predictions", OWN),
    "labels-inverted": ("the labels are inverted", LABELS),
    "labels-of-training": ("the labels are those of the training data", LABELS),
}

FAULTS: list[Fault] = [
    *(Fault(f"train-{n}", "training_loop", "training_loop", says, hint) for n, (says, hint) in TRAINING.items()),
    *(
        Fault(f"validate-{n}", "validation_loop", "validation_loop", says, hint)
        for n, (says, hint) in VALIDATION.items()
    ),
]
