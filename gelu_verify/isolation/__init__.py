"""Foreign code in a child process: a crash or hang there is a result, and does not end the run.

parent                                         child (a fresh interpreter, one per family or named target)
`hosts.Hosts` ─ `host.Host` ─ `process.Child`  `child.main`: loads, then replies to questions
`target.IsolatedTarget` ── `channel` (JSON) ── `child.HostConnection`, one thread each
`memory.SharedMemory` ═ anonymous memory ═════ `memory.GuardedMemory`: guard, inputs (read-only), guard, outputs, guard
"""
