"""Files that appear when they are complete, and how far they are."""

import json
import os
import shutil
import struct
import sys
import time

SHARD_BYTES = 5 << 30


class Progress:
    def __init__(self, total_bytes, what):
        self.total, self.what, self.done, self.start, self.shown = total_bytes, what, 0, time.monotonic(), 0.0

    def add(self, n_bytes):
        self.done += n_bytes
        now = time.monotonic()
        if now - self.shown > 1 or self.done == self.total:
            self.shown = now
            rate = self.done / max(now - self.start, 1e-9)
            end = "\n" if self.done == self.total else ""
            print(f"\r{self.what}: {self.done / 1e9:.2f} of {self.total / 1e9:.2f} GB, {rate / 1e6:.0f} MB/s ", end=end,
                  file=sys.stderr, flush=True)


def require_space(folder, n_bytes):
    free = shutil.disk_usage(folder).free
    if free < n_bytes * 1.02:
        sys.exit(f"{folder}: {n_bytes / 1e9:.1f} GB are needed on this disk, {free / 1e9:.1f} GB are free")


def tensor_bytes(tensor):
    _, dtype, dims = tensor
    size = {"U32": 4, "BF16": 2}[dtype]
    for n in dims:
        size *= n
    return size


def shards_of(tensors):
    """Lists of tensors, each list at most SHARD_BYTES long."""
    shards, size = [[]], 0
    for tensor in tensors:
        n_bytes = tensor_bytes(tensor)
        if shards[-1] and size + n_bytes > SHARD_BYTES:
            shards.append([])
            size = 0
        shards[-1].append(tensor)
        size += n_bytes
    return shards


def write_shard(path, tensors, content, progress):
    """tensors: (name, dtype, dims); content(name) yields the bytes of one."""
    header, offset = {"__metadata__": {"format": "mlx"}}, 0
    for tensor in tensors:
        name, dtype, dims = tensor
        end = offset + tensor_bytes(tensor)
        header[name] = {"dtype": dtype, "shape": list(dims), "data_offsets": [offset, end]}
        offset = end
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb", buffering=0) as out:
        write_all(out, struct.pack("<Q", len(text)) + text)
        for tensor in tensors:
            write_tensor(out, tensor[0], tensor_bytes(tensor), content(tensor[0]), progress)


def write_tensor(out, name, n_bytes, pieces, progress):
    written = 0
    for piece in pieces:
        write_all(out, piece)
        written += len(piece)
        progress.add(len(piece))
    assert written == n_bytes, (name, written, n_bytes)


def write_all(out, data):
    data = memoryview(data)
    while data:
        data = data[out.write(data) :]


def write_index(folder, shards, names, n_parameters):
    sizes = sum(tensor_bytes(tensor) for shard in shards for tensor in shard)
    index = {
        "metadata": {"total_size": sizes, "total_parameters": n_parameters},
        "weight_map": {tensor[0]: name for shard, name in zip(shards, names) for tensor in shard},
    }
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1) + "\n")


class PartialFolder:
    """`with PartialFolder(path) as folder`: folder becomes path at the end, and vanishes on any failure."""

    def __init__(self, path):
        self.path, self.partial = path, path.with_name(path.name + ".partial")

    def __enter__(self):
        if self.path.exists() or self.partial.exists():
            sys.exit(f"{self.path} or {self.partial.name} exists already; remove it or name another place")
        self.partial.mkdir(parents=True)
        return self.partial

    def __exit__(self, kind, error, trace):
        if kind is None:
            os.rename(self.partial, self.path)
        else:
            shutil.rmtree(self.partial)
