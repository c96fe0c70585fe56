"""The virtual-time kernel: where its source is, how it is built, where the built one is kept.

- source.py: the distribution's kernel source package on this machine
- recipe.py: what makes one kernel different from another (configuration, patches, make options)
- cache.py: built kernels in the user's cache, each with its checksum
- build.py: extract, configure, compile, install into the cache
"""

from testbed.emulation.kernel.cache import Kernel, KernelMissing, find, require

__all__ = ["Kernel", "KernelMissing", "find", "require"]
