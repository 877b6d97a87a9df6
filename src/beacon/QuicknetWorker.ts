/** Checks the round it is started with on a thread of its own, and says whether it is genuine. */
import { parentPort, workerData } from "node:worker_threads"
import type { Round } from "./Network.ts"
import { verifyBeacon } from "./Quicknet.ts"

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
parentPort?.postMessage(verifyBeacon(workerData as Round))
