"""The public names, each once, and the modules they live in."""

from . import exceptions as exceptions
from .classical_mds import ClassicalMDS as ClassicalMDS
from .diagnostics import ResidualVariance as ResidualVariance
from .diagnostics import residual_variance as residual_variance
from .diffusion_maps import DiffusionMaps as DiffusionMaps
from .functions import estimate_memory as estimate_memory
from .functions import geodesic_distances as geodesic_distances
from .functions import kneighbors as kneighbors
from .functions import neighbors_graph as neighbors_graph
from .isomap import Isomap as Isomap
from .kernel_isomap import KernelIsomap as KernelIsomap
from .kernel_map import KernelMap as KernelMap
from .kernel_mds import KernelMDS as KernelMDS
from .landmark_isomap import LandmarkIsomap as LandmarkIsomap
from .landmark_mds import LandmarkMDS as LandmarkMDS
from .locally_linear import LocallyLinearEmbedding as LocallyLinearEmbedding
from .locally_linear import locally_linear_embedding as locally_linear_embedding
from .mds import MDS as MDS
from .mds import smacof as smacof
from .pca import PCA as PCA
from .sammon_mapping import SammonMapping as SammonMapping
from .spectral import SpectralEmbedding as SpectralEmbedding
from .spectral import spectral_embedding as spectral_embedding
