"""Train a small network to tell whether a sentence is positive or negative."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1]))

import minitorch

# "CudaKernelOps" runs on the GPU if there is one, and on NumPy if not; "SimpleOps" runs on the CPU.
backend_name = "CudaKernelOps"

if backend_name == "CudaKernelOps":
    from minitorch.cuda_kernel_ops import CudaKernelOps

    BACKEND = minitorch.TensorBackend(CudaKernelOps)
elif backend_name == "SimpleOps":
    from minitorch import SimpleOps

    BACKEND = minitorch.TensorBackend(SimpleOps)

BATCH = 10

Sentence = list[list[float]]  # [words, embedding_dim]
Data = tuple[Sequence[Sentence], Sequence[float]]  # the sentences and their labels, 0 or 1
Prediction = tuple[float, float, float]  # label, predicted label, output of the network


def RParam(*shape: int) -> minitorch.Parameter:
    """A parameter of the given shape with random values between -0.05 and 0.05."""
    return minitorch.Parameter(0.1 * (minitorch.rand(shape, backend=BACKEND) - 0.5))


def binary_cross_entropy_loss(out: minitorch.Tensor, y: minitorch.Tensor) -> minitorch.Tensor:
    """The mean of ``-(y log(out) + (1 - y) log(1 - out))`` over the batch.

    Args:
        out: what the network gives, between 0 and 1 because its last layer is a sigmoid; ``[batch]``.
        y: the labels, 0 or 1; ``[batch]``.

    Returns:
        The loss, of shape ``[1]``.
    """
    # BEGIN HW2_3
    # TODO:
    # 1. Make a tensor of ones in the shape of y. Hint: minitorch.tensor_functions.ones
    # 2. Take the logarithms of out and of ones - out.
    # 3. Put the cross entropy together and take its mean.
    # BEGIN SOLUTION
    ones = minitorch.tensor_functions.ones(y.shape, backend=BACKEND)
    log_likelihood = y * out.log() + (ones - y) * (ones - out).log()
    return -log_likelihood.mean()
    # END SOLUTION
    #| raise NotImplementedError("binary_cross_entropy_loss is yours to write")
    # END HW2_3


class Linear(minitorch.Module):
    """A linear layer: ``x · weights + bias``."""

    def __init__(self, in_size: int, out_size: int) -> None:
        super().__init__()
        # BEGIN HW2_2
        # TODO:
        # 1. self.weights: a random parameter of shape [in_size, out_size]. Hint: RParam
        # 2. self.bias: a random parameter of shape [out_size].
        # 3. self.out_size
        # BEGIN SOLUTION
        self.weights = RParam(in_size, out_size)
        self.bias = RParam(out_size)
        self.out_size = out_size
        # END SOLUTION
        #| raise NotImplementedError("Linear.__init__ is yours to write")
        # END HW2_2

    def forward(self, x: minitorch.Tensor) -> minitorch.Tensor:
        """``[batch, in_size]`` to ``[batch, out_size]``."""
        batch, in_size = x.shape
        # BEGIN HW2_2
        # TODO:
        # 1. View x as [batch, in_size] and the weights as [in_size, self.out_size].
        # 2. Multiply the two matrices, and view the product as [batch, self.out_size].
        # 3. Add the bias.
        # BEGIN SOLUTION
        weights: minitorch.Tensor = self.weights.value.view(in_size, self.out_size)
        bias: minitorch.Tensor = self.bias.value
        return (x.view(batch, in_size) @ weights).view(batch, self.out_size) + bias
        # END SOLUTION
        #| raise NotImplementedError("Linear.forward is yours to write")
        # END HW2_2


class Network(minitorch.Module):
    """A classifier of sentences.

    1. the mean of the word embeddings over the sentence,
    2. a linear layer to ``hidden_dim``, then ReLU, then dropout,
    3. a linear layer to one number,
    4. a sigmoid.
    """

    def __init__(self, embedding_dim: int = 50, hidden_dim: int = 32, dropout_prob: float = 0.5) -> None:
        super().__init__()
        self.embedding_dim = embedding_dim
        self.dropout_prob = dropout_prob
        # BEGIN HW2_2
        # TODO: Make the two linear layers, embedding_dim to hidden_dim and hidden_dim to 1.
        # BEGIN SOLUTION
        self.linear1 = Linear(embedding_dim, hidden_dim)
        self.linear2 = Linear(hidden_dim, 1)
        # END SOLUTION
        #| raise NotImplementedError("Network.__init__ is yours to write")
        # END HW2_2

    def forward(self, embeddings: minitorch.Tensor) -> minitorch.Tensor:
        """The probability that each sentence is positive.

        Args:
            embeddings: ``[batch, words, embedding_dim]``.

        Returns:
            ``[batch]``, between 0 and 1.
        """
        # BEGIN HW2_2
        # TODO:
        # 1. Take the mean over the words; view it as [batch, embedding_dim].
        # 2. Apply the first linear layer.
        # 3. Apply ReLU, and dropout with probability self.dropout_prob while training.
        #    Hint: minitorch.nn.dropout, self.training
        # 4. Apply the second linear layer.
        # 5. Apply the sigmoid; view the result as [batch].
        # BEGIN SOLUTION
        batch = embeddings.shape[0]
        mean = embeddings.mean(dim=1).view(batch, self.embedding_dim)
        hidden = self.linear1.forward(mean).relu()
        hidden = minitorch.nn.dropout(hidden, self.dropout_prob, ignore=not self.training)
        return self.linear2.forward(hidden).sigmoid().view(batch)
        # END SOLUTION
        #| raise NotImplementedError("Network.forward is yours to write")
        # END HW2_2


def get_predictions_array(y_true: Any, model_output: minitorch.Tensor) -> list[Prediction]:
    """For each sentence its label, the predicted label and the output that it rests on.

    Args:
        y_true: the labels, a tensor or a list; ``[batch]``.
        model_output: what the network gives; ``[batch]``.
    """
    outputs = model_output.view(model_output.shape[0])
    predictions = []
    for i in range(outputs.shape[0]):
        output = outputs[i]
        predictions.append((y_true[i], 1.0 if output > 0.5 else 0.0, output))
    return predictions


def get_accuracy(predictions_array: Sequence[Prediction]) -> float:
    """The share of predictions that equal the label."""
    right = sum(label == predicted for label, predicted, _ in predictions_array)
    return float(right / len(predictions_array))


best_val = 0.0


def default_log_fn(
    epoch: int,
    train_loss: float,
    train_accuracy: Sequence[float],
    validation_predictions: Sequence[Prediction],
    validation_accuracy: Sequence[float],
) -> None:
    """Print how an epoch went.

    Args:
        epoch: its number, from 1.
        train_loss: the mean loss of its batches.
        train_accuracy: the accuracy of each epoch so far, on the training data.
        validation_predictions: this epoch's predictions for the validation data; empty if there is none.
        validation_accuracy: the accuracy of each epoch so far, on the validation data.
    """
    global best_val
    print(f"Epoch {epoch}, loss {train_loss}, train accuracy: {train_accuracy[-1]:.2%}")
    if len(validation_predictions) > 0:
        best_val = max(best_val, validation_accuracy[-1])
        print(f"Validation accuracy: {validation_accuracy[-1]:.2%}")
        print(f"Best Valid accuracy: {best_val:.2%}")


class SentenceSentimentTrain:
    """Trains a `Network`."""

    def __init__(self) -> None:
        self.model = Network()

    def train(
        self,
        data_train: Data,
        learning_rate: float,
        batch_size: int = BATCH,
        max_epochs: int = 500,
        data_val: Data | None = None,
        log_fn: Callable[..., None] = default_log_fn,
    ) -> None:
        """Train for ``max_epochs`` epochs, and report each to ``log_fn``.

        Args:
            data_train: the sentences and labels to learn from.
            learning_rate: of Adam.
            batch_size: the number of sentences in a step.
            max_epochs: the number of times to go through the training data.
            data_val: sentences and labels to measure the accuracy on after each epoch.
            log_fn: called with what `default_log_fn` takes.
        """
        model = self.model
        X_train, y_train = data_train
        n_training_samples = len(X_train)
        batch_size = min(batch_size, n_training_samples)
        optim = minitorch.Adam(model.parameters(), learning_rate)
        train_accuracy: list[float] = []
        validation_accuracy: list[float] = []
        for epoch in range(1, max_epochs + 1):
            total_loss = 0.0
            n_batches = 0
            train_predictions: list[Prediction] = []
            model.train()
            for example_num in range(0, n_training_samples, batch_size):
                # BEGIN HW2_3
                # TODO:
                # 1. Make the tensors x and y of this batch, on BACKEND. Hint: minitorch.tensor
                # 2. out: what the model gives for x.
                # 3. loss: its binary_cross_entropy_loss.
                # 4. Call the backward function of the loss.
                # 5. Let the optimiser take a step.
                # BEGIN SOLUTION
                batch = slice(example_num, example_num + batch_size)
                x = minitorch.tensor(X_train[batch], backend=BACKEND)
                y = minitorch.tensor(y_train[batch], backend=BACKEND)
                optim.zero_grad()
                out = model(x)
                loss = binary_cross_entropy_loss(out, y)
                loss.backward()
                optim.step()
                # END SOLUTION
                #| raise NotImplementedError("the training step is yours to write")
                # END HW2_3
                train_predictions += get_predictions_array(y, out)
                total_loss += float(loss[0])
                n_batches += 1
            train_accuracy.append(get_accuracy(train_predictions))

            validation_predictions: list[Prediction] = []
            if data_val is not None:
                X_val, y_val = data_val
                model.eval()
                # BEGIN HW2_3
                # TODO:
                # 1. Make the tensors x and y of the validation data, on BACKEND.
                # 2. Get what the model gives for x.
                # 3. Add what get_predictions_array makes of it to validation_predictions.
                # 4. Append what get_accuracy makes of these to validation_accuracy.
                # BEGIN SOLUTION
                x = minitorch.tensor(X_val, backend=BACKEND)
                y = minitorch.tensor(y_val, backend=BACKEND)
                validation_predictions += get_predictions_array(y, model(x))
                validation_accuracy.append(get_accuracy(validation_predictions))
                # END SOLUTION
                #| raise NotImplementedError("the validation step is yours to write")
                # END HW2_3
                model.train()

            log_fn(epoch, total_loss / n_batches, train_accuracy, validation_predictions, validation_accuracy)


def encode_sentences(
    dataset: Any,
    N: int,
    max_sentence_len: int,
    embeddings_lookup: Any,
    unk_embedding: list[float],
    unks: set[str],
) -> Data:
    """The first ``N`` sentences as lists of word embeddings, padded with zeros, and their labels.

    Args:
        dataset: the columns ``sentence`` and ``label``.
        N: the number of sentences.
        max_sentence_len: the number of words to pad to.
        embeddings_lookup: gives the embedding of a word.
        unk_embedding: stands in for words that it does not know.
        unks: receives these words.
    """
    sentences = []
    for sentence in dataset["sentence"][:N]:
        encoded = [[0.0] * embeddings_lookup.d_emb] * max_sentence_len
        for i, word in enumerate(sentence.split()):
            if word in embeddings_lookup:
                encoded[i] = list(embeddings_lookup.emb(word))
            else:
                unks.add(word)
                encoded[i] = list(unk_embedding)
        sentences.append(encoded)
    return sentences, list(dataset["label"][:N])


def encode_sentiment_data(dataset: Any, pretrained_embeddings: Any, N_train: int, N_val: int = 0) -> tuple[Data, Data]:
    """The training and the validation data, every sentence padded to the length of the longest.

    Args:
        dataset: the splits ``train`` and ``validation``.
        pretrained_embeddings: gives the embedding of a word.
        N_train: the number of sentences to train on.
        N_val: the number of sentences to validate on.
    """
    every = [*dataset["train"]["sentence"], *dataset["validation"]["sentence"]]
    longest = max(len(sentence.split()) for sentence in every)
    unknown = [0.1 * (random.random() - 0.5) for _ in range(pretrained_embeddings.d_emb)]
    unks: set[str] = set()
    train = encode_sentences(dataset["train"], N_train, longest, pretrained_embeddings, unknown, unks)
    val = encode_sentences(dataset["validation"], N_val, longest, pretrained_embeddings, unknown, unks)
    print(f"missing pre-trained embedding for {len(unks)} unknown words")
    return train, val


def main() -> None:
    """Train on SST-2 with GloVe embeddings."""
    import embeddings
    from datasets import load_dataset

    train_size = 450
    validation_size = 100
    learning_rate = 0.025
    max_epochs = 250
    embedding_dim = 50

    data_train, data_val = encode_sentiment_data(
        load_dataset("nyu-mll/glue", "sst2"),
        embeddings.GloveEmbedding("wikipedia_gigaword", d_emb=embedding_dim, show_progress=True),
        train_size,
        validation_size,
    )
    SentenceSentimentTrain().train(data_train, learning_rate, max_epochs=max_epochs, data_val=data_val)


if __name__ == "__main__":
    main()
