"""The public names, each once, and the modules they live in."""

from .landmark_isomap import LandmarkIsomap as LandmarkIsomap
from .landmark_mds import LandmarkMDS as LandmarkMDS
from .linear import PCA as PCA
from .linear import ClassicalMDS as ClassicalMDS
from .neighbors import kneighbors as kneighbors
from .sampled import MDS as MDS
from .sampled import TSNE as TSNE
from .sampled import DiffusionMaps as DiffusionMaps
from .sampled import Isomap as Isomap
from .sampled import KernelIsomap as KernelIsomap
from .sampled import KernelMDS as KernelMDS
from .sampled import LocallyLinearEmbedding as LocallyLinearEmbedding
from .sampled import SammonMapping as SammonMapping
from .sampled import SampledEmbedding as SampledEmbedding
from .sampled import SpectralEmbedding as SpectralEmbedding
