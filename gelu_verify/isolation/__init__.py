"""Somebody else's code in a process of its own: whatever it does there is a result, and not our end.

parent                                         child (a fresh interpreter, one per family or named target)
`hosts.Hosts` ─ `host.Host` ─ `process.Child`  `child.main`: loads, then replies to questions
`target.IsolatedTarget` ── `channel` (JSON) ── `child.Connection`, one thread each
`memory.SharedMemory` ═ anonymous memory ═════ `memory.GuardedMemory`: guard, inputs (read-only), guard, outputs, guard
"""
