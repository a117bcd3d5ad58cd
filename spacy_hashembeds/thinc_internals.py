"""Imports from Thinc that are not in `thinc.api` and may move in other versions."""

from operator import attrgetter

from thinc.backends import ParamServer
from thinc.layers.array_getitem import forward as getitem_forward
from thinc.layers.array_getitem import ints_getitem
from thinc.layers.chain import forward as chain_forward
from thinc.layers.chain import init as chain_init
from thinc.layers.concatenate import forward as concatenate_forward
from thinc.layers.dropout import forward as dropout_forward
from thinc.layers.expand_window import forward as expand_window_forward
from thinc.layers.layernorm import forward as layernorm_forward
from thinc.layers.linear import forward as linear_forward
from thinc.layers.list2ragged import forward as list2ragged_forward
from thinc.layers.maxout import forward as maxout_forward
from thinc.layers.ragged2list import forward as ragged2list_forward
from thinc.layers.relu import forward as relu_forward
from thinc.layers.residual import forward as residual_forward
from thinc.layers.resizable import resize_linear_weighted, resize_model
from thinc.layers.softmax import forward as softmax_forward
from thinc.layers.with_array import forward as with_array_forward
from thinc.optimizers import ADAM_DEFAULTS, FloatOrSeq, KeyT
from thinc.util import gpu_is_available, partial

# Attributes of a node. Nodes are identified by their functions: wrapped ones keep
# their name. Plans read attributes in each call; `attrgetter` is fast.
get_forward = attrgetter("_func")
get_layers = attrgetter("_layers")
get_dims = attrgetter("_dims")
get_store = attrgetter("_params")
get_proxy = attrgetter("_params.proxy")
get_stamp = attrgetter("_params.proxy.stamp")  # only if the proxy is a `Seal`

# Parameters in a store, by (node ID, name).
get_arrays = attrgetter("_params")
