# SPDX-License-Identifier: Apache-2.0
"""AWS's models of DynamoDB and DynamoDB Streams, from the botocore that `install` has installed."""

from botocore.loaders import Loader

SERVICES = ("dynamodb", "dynamodbstreams")


def load(service):
    return Loader().load_service_model(service, "service-2", "2012-08-10")


def input_of(model, operation):
    """The name of the shape of an operation's request, or None."""
    return model["operations"][operation].get("input", {}).get("shape")


def parameters_of(model, operation):
    shape = input_of(model, operation)
    return set(model["shapes"][shape].get("members", {})) if shape else set()


def errors_in(model):
    return {error["shape"] for described in model["operations"].values()
            for error in described.get("errors", [])}
