/** Series that only the database knows. */
import { Clock, Effect } from "effect"
import { by, gauge, only } from "../../measures/Family.ts"
import { backupAt } from "../../store/coordination/Installation.ts"
import * as Nodes from "../../store/coordination/Nodes.ts"
import { backlog } from "../../store/webhook/WebhookDeliveries.ts"

/** Reads the series. */
export const read = Effect.gen(function* () {
  const { oldestAt, disabled } = yield* backlog
  const processes = yield* Nodes.heard
  const now = yield* Clock.currentTimeMillis
  return [
    gauge("usher_cluster_nodes", "Processes on this database with a recent heartbeat.", only(processes.length)),
    gauge(
      "usher_webhook_oldest_undelivered_seconds",
      "Time since the first attempt of the oldest event that waits for another attempt.",
      only(oldestAt === undefined ? 0 : Math.max(0, now - oldestAt) / 1_000)
    ),
    gauge("usher_webhooks_disabled", "Webhooks that are disabled, by reason.", by("reason", [...none, ...disabled]))
  ]
})

/** Reads the age of the last backup. Another process writes backups, so a value from before one would be wrong. */
export const readBackup = Effect.gen(function* () {
  const lastBackupAt = yield* backupAt
  const now = yield* Clock.currentTimeMillis
  return [
    gauge(
      "usher_backup_age_seconds",
      "Age of the last backup by `usher backup`; infinite if there is none.",
      only(lastBackupAt === undefined ? Infinity : (now - lastBackupAt) / 1_000)
    )
  ]
})

/** Every reason has a series, also before a webhook has it. A later value replaces an earlier one. */
const none = [
  ["GONE", 0],
  ["FAILING", 0],
  ["ADMIN_ACTION", 0]
] as const
