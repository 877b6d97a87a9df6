/**
 * R18: the server receives SIGTERM under load.
 *
 *     npm run prove -- shutdown --rounds 20 --seed 1
 */
import { shutdownProof } from "../e2e/proofs/ShutdownProof.ts"
import { conclude, options, spread } from "./Report.ts"

const { rounds, seed } = options({ rounds: 20, seed: 1 })

const figures = await shutdownProof({ rounds, seed })

conclude(
  "shutting down loses nothing",
  {
    shutdowns: figures.rounds,
    "requests in flight": figures.inFlight,
    failed: figures.failed,
    "refused with 503": figures.postponed,
    "live streams": figures.streams,
    "ended gracefully": figures.ended,
    "rounds that saw /ready turn 503": figures.seenDraining,
    "acknowledged writes": figures.acknowledged,
    lost: figures.lost,
    "from SIGTERM to the exit": spread(figures.millis)
  },
  figures.violations,
  figures.failed === 0 &&
    figures.ended === figures.streams &&
    figures.lost === 0 &&
    figures.seenDraining > 0 &&
    Math.max(...figures.millis) < 20_000
)
