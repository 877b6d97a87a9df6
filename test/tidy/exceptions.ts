/** Places where a banned word has to stay. */
import type { ClockReading } from "./rules/clocks.ts"
import type { Exception } from "./rules/words.ts"

export const words: ReadonlyArray<Exception> = [
  { path: "src/domain/draw/proof/NotProven.ts", word: "whoever", reason: "the text of proofs is part of their format" }
]

const provided = "names the service to provide it, and reads no time"
const databaseOwn = "the database's clock decides, because all processes share it"
const stampOfDatabase = "marks when the database was changed, by its own clock; nothing is decided by it"

/** Readings of a clock besides `store/coordination/Time.ts`. */
export const clocks: ReadonlyArray<ClockReading> = [
  { path: "src/engine/actor/HeldActor.ts", reading: "Clock.Clock", reason: provided },
  { path: "src/store/testClock/TestClocks.ts", reading: "Clock.Clock", reason: provided },
  { path: "src/http/server/Server.ts", reading: "Clock.Clock", reason: provided },
  { path: "src/store/coordination/DatabaseClock.ts", reading: "Clock.Clock", reason: "is the server's clock" },
  { path: "src/store/coordination/TestModeClock.ts", reading: "Clock.Clock", reason: "is the clock of test mode" },
  {
    path: "src/http/server/MeasuredResponse.ts",
    reading: "performance.now",
    reason: "measures a duration without a fiber"
  },
  { path: "src/store/coordination/Leases.ts", reading: "clock_timestamp()", reason: databaseOwn },
  { path: "src/store/coordination/IdempotencyKeys.ts", reading: "clock_timestamp()", reason: databaseOwn },
  { path: "src/store/coordination/Nodes.ts", reading: "clock_timestamp()", reason: databaseOwn },
  { path: "src/store/coordination/Nodes.ts", reading: "now()", reason: databaseOwn },
  { path: "src/store/postgres/Upgrade.ts", reading: "now()", reason: databaseOwn },
  { path: "src/store/postgres/migrations/baseline/processes.sql", reading: "now()", reason: databaseOwn },
  { path: "src/auth/keys/SigningKeyRotation.ts", reading: "clock_timestamp()", reason: databaseOwn },
  { path: "src/auth/keys/SigningKeys.ts", reading: "clock_timestamp()", reason: databaseOwn },
  { path: "src/store/archive/Backup.ts", reading: "now()", reason: stampOfDatabase },
  { path: "src/store/archive/months/MonthWriter.ts", reading: "now()", reason: stampOfDatabase },
  { path: "src/store/archive/months/MonthRemoval.ts", reading: "now()", reason: stampOfDatabase },
  { path: "src/store/mechanism/ParkedMechanisms.ts", reading: "now()", reason: stampOfDatabase },
  { path: "src/store/organization/TenantEvents.ts", reading: "clock_timestamp()", reason: stampOfDatabase },
  { path: "src/store/receiver/ReceivedEvents.ts", reading: "clock_timestamp()", reason: stampOfDatabase },
  {
    path: "src/store/postgres/migrations/baseline/auditLog.sql",
    reading: "clock_timestamp()",
    reason: "the audit log tells who changed what when; a trigger knows the server's time alone"
  }
]
