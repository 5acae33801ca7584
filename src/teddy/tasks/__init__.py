"""Tasks: what is predicted, with which loss and metric, on nodes, links or graphs.

A kind of problem turns data into training, validation and test views, and node outputs into logits.
"""

from teddy.tasks.classification import Classification, CrossEntropy, accuracy
from teddy.tasks.graph_classification import GraphClassification
from teddy.tasks.graph_split import graph_set
from teddy.tasks.graphs import GraphKind
from teddy.tasks.heads import Head
from teddy.tasks.hetero import HeteroKind
from teddy.tasks.kind import Kind
from teddy.tasks.link_prediction import LinkPrediction
from teddy.tasks.link_split import links_of, split_links
from teddy.tasks.links import LinkKind
from teddy.tasks.load import load_dataset
from teddy.tasks.load_for_ticket import load_for_ticket, load_to_predict
from teddy.tasks.multilabel import Multilabel, micro_f1
from teddy.tasks.ranking import auc, hits_at
from teddy.tasks.registry import TASKS, kind_for, kind_from, parse_task, task_from
from teddy.tasks.regression import Regression, r2
from teddy.tasks.task import ClassWeight, Task, read_class_weight
from teddy.tasks.views import View, Views

__all__ = [
    "TASKS",
    "ClassWeight",
    "Classification",
    "CrossEntropy",
    "GraphClassification",
    "GraphKind",
    "Head",
    "HeteroKind",
    "Kind",
    "LinkKind",
    "LinkPrediction",
    "Multilabel",
    "Regression",
    "Task",
    "View",
    "Views",
    "accuracy",
    "auc",
    "graph_set",
    "hits_at",
    "kind_for",
    "kind_from",
    "links_of",
    "load_dataset",
    "load_for_ticket",
    "load_to_predict",
    "micro_f1",
    "parse_task",
    "r2",
    "read_class_weight",
    "split_links",
    "task_from",
]
