/** Worker thread that verifies the round it is started with, and posts the result. */
import { parentPort, workerData } from "node:worker_threads"
import type { Round } from "./Network.ts"
import { verifyBeacon } from "./Quicknet.ts"

parentPort?.postMessage(verifyBeacon(workerData as Round))
