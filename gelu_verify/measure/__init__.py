"""The path from a target and a plan to a result: calls, judgement on the CPU or on the device, minimized failures."""
