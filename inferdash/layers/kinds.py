"""Every kind of layer, told apart by `kind`: a new one is registered by its name here."""

from typing import Annotated, Final, TypeAlias

from pydantic import Field

from inferdash.layers.compressed import CompressedAttention
from inferdash.layers.feed_forward import Experts, GatedFeedForward
from inferdash.layers.gated_delta_net import GatedDeltaNet
from inferdash.layers.grouped import GroupedAttention
from inferdash.layers.kimi_delta import KimiDelta
from inferdash.layers.latent import LatentAttention
from inferdash.layers.lightning import Lightning
from inferdash.layers.mamba import SelectiveStateSpace, StateSpace
from inferdash.layers.mixer import Mixer
from inferdash.layers.short_conv import ShortConvolution

MIXERS: Final[tuple[type[Mixer], ...]] = (
    CompressedAttention,
    LatentAttention,
    GatedDeltaNet,
    KimiDelta,
    Lightning,
    StateSpace,
    SelectiveStateSpace,
    ShortConvolution,
    GroupedAttention,
)
"""In the order in which a config.json is tried; the first that knows a layer takes it."""

Attention: TypeAlias = Annotated[
    CompressedAttention
    | LatentAttention
    | GatedDeltaNet
    | KimiDelta
    | Lightning
    | StateSpace
    | SelectiveStateSpace
    | ShortConvolution
    | GroupedAttention,
    Field(discriminator="kind"),
]
FeedForward: TypeAlias = Annotated[GatedFeedForward | Experts, Field(discriminator="kind")]
