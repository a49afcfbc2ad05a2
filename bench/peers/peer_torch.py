"""PyTorch: channels_last tensors, fused Adam, batches gathered by a permutation. --compiled: torch.compile."""
import peer

o = peer.options()
import torch
import torch.nn.functional as F

torch.set_num_threads(o.threads)
torch.manual_seed(0)


class Cnn(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(1, 8, 3, padding=1)
        self.out = torch.nn.Linear(8 * 28 * 28, 10)

    def forward(self, x):
        return self.out(F.relu(self.conv(x)).flatten(1))


class Autoencoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Conv2d(1, 16, 3, 2, 1)
        self.b = torch.nn.Conv2d(16, 8, 3, 2, 1)
        self.c = torch.nn.ConvTranspose2d(8, 8, 3, 2, 1, 1)
        self.d = torch.nn.ConvTranspose2d(8, 16, 3, 2, 1, 1)
        self.e = torch.nn.Conv2d(16, 1, 3, 1, 1)

    def forward(self, x):
        for stage in (self.a, self.b, self.c, self.d):
            x = F.relu(stage(x))
        return torch.sigmoid(self.e(x))


images, labels = peer.mnist(o)
images, labels = torch.from_numpy(images).view(-1, 1, 28, 28), torch.from_numpy(labels).long()
net = (Cnn() if o.workload == "cnn" else Autoencoder()).to(memory_format=torch.channels_last)
optimizer = torch.optim.Adam(net.parameters(), fused=True)
forward = torch.compile(net) if o.compiled else net
epochs = peer.Epochs()
for _ in range(o.epochs):
    epochs.begin()
    total, batches = 0.0, torch.randperm(o.limit).split(o.batch)
    batches = [rows for rows in batches if len(rows) == o.batch]
    for rows in batches:
        x = images[rows].float().div_(255).contiguous(memory_format=torch.channels_last)
        y = forward(x)
        loss = F.cross_entropy(y, labels[rows]) if o.workload == "cnn" else F.mse_loss(y, x)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += loss.detach()
    total = float(total) / len(batches)
    epochs.end()
epochs.report(o, "PyTorch, compiled" if o.compiled else "PyTorch", total)
