"""Foreign code in a child process: a crash or hang there is a result, and does not end the run.

parent                                         child (a fresh interpreter, one per family or named target)
`hosts.Hosts` ─ `host.Host` ─ `process.Child`  `child.main`: loads, then answers questions
`target.IsolatedTarget` ── `channel` (JSON) ── `child.Lane`, one thread per lane
`memory.SharedRoom` ═══ anonymous memory ═════ `memory.GuardedRoom`: guard, inputs (read-only), guard, outputs, guard
"""
