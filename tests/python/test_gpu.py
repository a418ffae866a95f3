# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The road to a GPU, on the stand-in for libcuda that "runs" tests/driver/small.gemm on the host."""
import ctypes
import os
import resource
import sys
import threading
import types
import unittest
import unittest.mock

import fake_tensor
import numpy as np

import dslc
from common import SMALL, refused

CUDA, BF16 = 2, 4


class Arrays:
    """Matrices of bf16 in one memory, as fake_gpu wants them: A before B before D."""

    def __init__(self, m, n, k):
        self.memory = np.zeros(1 << 20, np.uint16)
        at = -(-self.memory.ctypes.data // 256) * 256
        self.shapes = {"A": (m, k), "B": (n, k), "D": (m, n)}
        self.view, self.address = {}, {}
        for name, shape in self.shapes.items():
            self.address[name] = at
            start = (at - self.memory.ctypes.data) // 2
            self.view[name] = self.memory[start:start + shape[0] * shape[1]].reshape(shape)
            at += -(-self.view[name].nbytes // 256) * 256
        self.view["A"][:] = self.view["B"][:] = 0x3f80  # 1

    def fast(self, name, kind=fake_tensor.Fast, device=0):
        return kind(self.address[name], self.shapes[name], BF16, 16, CUDA, device)


class Slow:
    """A tensor with __dlpack__ and no table; notes which stream it was told of."""

    def __init__(self, fast, flags=0, device=0):
        self.fast, self.flags, self.device, self.told = fast, flags, device, []

    def __dlpack_device__(self):
        return CUDA, self.device

    def __dlpack__(self, stream=None, max_version=None):
        self.told.append(stream)
        return fake_tensor.capsule(self.fast, self.flags)


class Torch(Slow):
    """A tensor of torch before 2.10: no table, and a function that gives the current stream."""
    __module__ = "torch"
    asked = 0

    def __dlpack_device__(self):
        Torch.asked += 1
        return super().__dlpack_device__()


class Old(Slow):
    def __dlpack__(self, stream=None):
        return super().__dlpack__(stream)


class Gpu(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.k = dslc.load(SMALL)
        cls.driver = ctypes.CDLL(os.environ["DSL_LIBCUDA"])
        cls.driver.fake_gpu_stream.restype = ctypes.c_size_t

    def setUp(self):
        self.x = Arrays(24, 16, 8)
        Torch.asked = 0
        fake_tensor.stream(0)

    def right(self):
        self.assertTrue((self.x.view["D"] == 0x4100).all())  # 8
        self.x.view["D"][:] = 0

    def test_table(self):
        x = self.x
        fake_tensor.stream(0x5000)
        self.k(x.fast("A"), x.fast("B"), out=x.fast("D"))
        self.right()
        self.assertEqual(self.driver.fake_gpu_stream(), 0x5000)

    def test_table_of_a_later_version(self):
        x = self.x
        self.k(*(x.fast(n, fake_tensor.Newer) for n in "AB"), out=x.fast("D", fake_tensor.Newer))
        self.right()

    def test_stream_named(self):
        x = self.x
        fake_tensor.stream(0x5000)
        self.k(x.fast("A"), x.fast("B"), out=x.fast("D"), stream=0x7000)
        self.right()
        self.assertEqual(self.driver.fake_gpu_stream(), 0x7000)

    def test_capsules(self):
        for kind in (Slow, Old):
            slow = [kind(self.x.fast(n)) for n in "ABD"]
            self.k(*slow[:2], out=slow[2])
            self.right()
            self.assertEqual([s.told for s in slow], [[1]] * 3)  # CUDA's default stream
            slow = [kind(self.x.fast(n)) for n in "ABD"]
            self.k(*slow[:2], out=slow[2], stream=0x7000)
            self.right()
            self.assertEqual([s.told for s in slow], [[0x7000]] * 3)
        self.assertEqual(fake_tensor.lent(), 0)

    def test_own_stream(self):
        """A library in whose own stream the launch goes is told that nothing need wait; another one is told the stream."""
        torch_c = types.ModuleType("torch._C")
        torch_c._cuda_getCurrentRawStream = lambda device: 0x5000
        with unittest.mock.patch.dict(sys.modules, {"torch": types.ModuleType("torch"), "torch._C": torch_c}):
            kinds = Torch, Slow, Torch
            slow = [kind(self.x.fast(n)) for kind, n in zip(kinds, "ABD")]
            self.k(*slow[:2], out=slow[2])
            self.right()
            self.assertEqual([s.told for s in slow], [[-1], [0x5000], [-1]])
            self.assertEqual(Torch.asked, 0)  # the capsule says where it is
            self.assertEqual(self.driver.fake_gpu_stream(), 0x5000)
            self.k(*slow[:2], out=slow[2], stream=0x7000)
            self.right()
            self.assertEqual([s.told[1] for s in slow], [0x7000] * 3)

    def test_both_in_one_call(self):
        x = self.x
        fake_tensor.stream(0x5000)
        d = Slow(x.fast("D"))
        self.k(x.fast("A"), x.fast("B"), out=d)
        self.right()
        self.assertEqual(d.told, [0x5000])

    def test_pools(self):
        """What TMA cannot take is copied into a pool's memory, one pool for each stream."""
        x = self.x
        for stream in 0x5000, 0x7000, 0x5000:
            self.k(x.fast("A"), x.fast("B"), out=x.fast("D"), stream=stream)
            self.right()
            for _ in range(2):
                self.k(self.moved(2), x.fast("B"), out=x.fast("D"), stream=stream)
                self.right()
                self.assertEqual(self.driver.fake_gpu_stream(), stream)

    def test_semaphores(self):
        """A pool provides semaphores to a kernel that needs no workspace, also if its tensors are torch tensors."""
        k = dslc.loads(SMALL.read_text().replace("roles none;", "roles cooperative; persistent dynamic;"))
        x = self.x
        for own in lambda t: t, Torch:
            k(own(x.fast("A")), own(x.fast("B")), out=own(x.fast("D")), stream=0x5000)
            self.assertEqual(self.driver.fake_gpu_stream(), 0x5000)

    def moved(self, by):
        """A two bytes further on, in the gap after it."""
        x = self.x
        at = x.address["A"] + by
        flat = np.frombuffer((ctypes.c_uint16 * (x.view["A"].size)).from_address(at), np.uint16)
        flat[:] = 0x3f80
        return fake_tensor.Fast(at, x.shapes["A"], BF16, 16, CUDA, 0)

    def test_memory_of_torch(self):
        """In torch's own stream it is torch's memory, dropped after the launch; torch's failure is the call's."""
        x, made = self.x, []

        class Memory:
            def __init__(self, size, dtype, device):
                made.append((size, dtype, device))
                self.bytes = np.zeros(size + 256, np.uint8)

            def data_ptr(self):
                return -(-self.bytes.ctypes.data // 256) * 256

        def full(size, dtype, device):
            raise MemoryError("no memory of torch")

        torch, torch_c = types.ModuleType("torch"), types.ModuleType("torch._C")
        torch.empty, torch.uint8 = Memory, "uint8"
        torch_c._cuda_getCurrentRawStream = lambda device: 0x5000
        with unittest.mock.patch.dict(sys.modules, {"torch": torch, "torch._C": torch_c}):
            tensors = [Torch(t) for t in (self.moved(2), x.fast("B"), x.fast("D"))]
            self.k(*tensors[:2], out=tensors[2])
            self.right()
            self.assertEqual(made, [(24 * 128, "uint8", "cuda:0")])
            self.k(Torch(x.fast("A")), tensors[1], out=tensors[2])  # needs none
            self.right()
            self.k(*tensors[:2], out=tensors[2], stream=0x7000)  # not torch's stream: a pool
            self.right()
            self.assertEqual(len(made), 1)
            torch.empty = full
            with self.assertRaisesRegex(MemoryError, "no memory of torch"):
                self.k(*tensors[:2], out=tensors[2])

    def test_refused(self):
        x, host = self.x, np.zeros((16, 8), np.uint16)
        a, b, d = (x.fast(n) for n in "ABD")
        refused(self, lambda: self.k(a, host, out=d), "A and B .*different devices")
        refused(self, lambda: self.k(a, x.fast("B", device=1), out=d), "A and B .*different devices")
        refused(self, lambda: self.k(a, b, out=Slow(d, flags=1)), "D .*is written, but .*read-only")
        one = [x.fast(n, device=7) for n in "ABD"]
        refused(self, lambda: self.k(*one[:2], out=one[2]), "cuda:7", status="NO_DEVICE")
        odd = fake_tensor.Fast(x.address["D"] + 2, x.shapes["D"], BF16, 16, CUDA, 0)
        refused(self, lambda: self.k(a, b, out=odd), "tensor D: address .*not a multiple of 16", status="ALIGN")
        other = fake_tensor.Fast(x.address["B"], x.shapes["B"], BF16, 16, 10, 0)
        refused(self, lambda: self.k(other, b, out=d), "device")
        self.assertEqual(fake_tensor.lent(), 0)

    def test_ten_thousand_launches_of_four_threads(self):
        def work(count, x):
            a, b, d = (x.fast(n) for n in "ABD")
            slow = [Slow(t) for t in (a, b, d)]
            for i in range(count):
                if i % 5:
                    self.k(a, b, out=d)
                else:
                    self.k(*slow[:2], out=slow[2])
                    for s in slow:
                        s.told.clear()
                x.view["D"][:] = 0
                try:
                    self.k(a, out=d)
                except TypeError:
                    pass

        arrays = [Arrays(8, 8, 8) for _ in range(4)]

        def all_threads(count):
            threads = [threading.Thread(target=work, args=(count, x)) for x in arrays]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, sys.getallocatedblocks()
        all_threads(100)
        memory, blocks = all_threads(100)
        memory_after, blocks_after = all_threads(2500)
        self.assertLess(blocks_after - blocks, 1000)
        self.assertLess(memory_after - memory, 2048)  # KiB
        self.assertEqual(fake_tensor.lent(), 0)


if __name__ == "__main__":
    unittest.main()
