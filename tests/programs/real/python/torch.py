"""A stand-in for PyTorch: what Triton's HIP driver and its argument handling ask of it, and nothing else.

Triton finds the device and the stream through torch.cuda, and takes for a tensor whatever has a dtype and a data_ptr().
"""


class version:
    hip = "6.4"
    cuda = None


class cuda:
    @staticmethod
    def is_available():
        return True

    @staticmethod
    def current_device():
        return 0

    @staticmethod
    def get_device_capability(device=None):
        return (11, 0)

    @staticmethod
    def set_device(device):
        pass

    class current_stream:
        cuda_stream = 0

        def __init__(self, device=None):
            pass


class Tensor:
    """Memory of the device, `bytes` at `address`."""

    def __init__(self, address, dtype):
        self.address = address
        self.dtype = dtype

    def data_ptr(self):
        return self.address
