/**
 * R20: backups and restores are killed at random instants under load; then a backup is restored and compared with what
 * clients know.
 *
 *     npm run prove -- backup --times 50 --seed 1
 */
import { backupProof } from "../e2e/proofs/BackupProof.ts"
import { conclude, options, spread } from "./Report.ts"

const { times, seed } = options({ times: 50, seed: 1 })

const figures = await backupProof({
  times,
  seed,
  onRound: (round, { acknowledged, events, violations }) =>
    console.log(
      `round ${round}: ${acknowledged} acknowledged before, ${events} events, ${violations.length} violations`
    )
})

conclude(
  "a backup has everything that was answered before it, nothing twice, and restores",
  {
    "backups restored": figures.restored,
    "backups killed": figures.killedBackups,
    "restores killed": figures.killedRestores,
    "acknowledged writes before the last": figures.acknowledged,
    "events in the last": figures.events,
    backup: spread(figures.backupMillis),
    "restore and verification": spread(figures.restoreMillis)
  },
  figures.violations,
  figures.restored === times && figures.acknowledged > times
)
