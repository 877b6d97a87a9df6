/** The settings of a queue. */
import { Schema } from "effect"
import { type SettingProblem, windowProblems } from "../experience/ExperienceWindow.ts"
import { stockId } from "../mechanism/Allocation.ts"
import { admissionExpirationSeconds, count, experienceWindow, name } from "../mechanism/Configuring.ts"
import { GrantsPerConsumer } from "../mechanism/GrantRecord.ts"
import { RiskWeight } from "../risk/RiskWeight.ts"
import { Timestamp } from "../values/Time.ts"

/** The maximum of admissions per minute. It is more than one process can admit durably. */
export const admitRateMax = 1_000_000

/** The longest life of a grant that is renewed. */
const renewalSecondsMax = 31_536_000

/**
 * A grant ends `idleSeconds` after its consumer was last seen, and at the latest `maxSeconds` after it was made. It takes
 * the place of `admissionExpirationSeconds`.
 */
export const AdmissionRenewal = Schema.Struct({
  idleSeconds: count(renewalSecondsMax),
  maxSeconds: count(renewalSecondsMax)
})

/** The settings that an admin sends. The handlers complete absent keys. */
export const Configuration = Schema.Struct({
  name,
  timeZone: Schema.String,
  openAt: Schema.optionalKey(Timestamp),
  closeAt: Schema.optionalKey(Timestamp),
  lobbyOpenAt: Schema.optionalKey(Timestamp),
  supportsGuest: Schema.Boolean,
  /** Per minute; 0: only by hand. */
  admitRate: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: admitRateMax })),
  admissionExpirationSeconds,
  /** The maximum of QUEUED consumers at once. */
  capacity: Schema.optionalKey(count(100_000_000)),
  /** Grants over the queue's life. */
  maxAdmissions: Schema.optionalKey(count(1_000_000_000)),
  recycleExpiredAdmissions: Schema.Boolean,
  /** Grants that may be live at once. */
  insideLimit: Schema.optionalKey(count(100_000_000)),
  /** An entry that does not have to wait is granted in its own commit. Absent: false. */
  standby: Schema.optionalKey(Schema.Boolean),
  /** Admissions by rate that may be made at once. Absent: the rate of one second, at least 1. */
  admitBurst: Schema.optionalKey(count(admitRateMax)),
  admissionRenewal: Schema.optionalKey(AdmissionRenewal),
  /** Grants that one consumer may have, one after another. Absent: no limit, but none after a completed one. */
  grantsPerConsumer: Schema.optionalKey(GrantsPerConsumer),
  loyaltyBiasEnabled: Schema.Boolean,
  loyaltyHeadStartSeconds: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 86_400 })),
  /** In the order of the lobby, the weight of a place is multiplied by 1 − riskWeight × risk score. Absent: 0. */
  riskWeight: Schema.optionalKey(RiskWeight),
  stockId,
  experienceWindow
})
export type Configuration = typeof Configuration.Type

type Problem = SettingProblem<"openAt" | "closeAt" | "lobbyOpenAt" | "admitBurst" | "admissionRenewal">

/** Returns the contradictions between settings that are valid by themselves. */
export const configurationProblems = (configuration: Configuration): ReadonlyArray<Problem> => {
  const { openAt, lobbyOpenAt } = configuration
  const problems: Array<Problem> = [...windowProblems(configuration), ...admissionProblems(configuration)]
  if (lobbyOpenAt !== undefined && openAt === undefined) {
    problems.push({ field: "lobbyOpenAt", message: "lobbyOpenAt needs an openAt" })
  }
  if (lobbyOpenAt !== undefined && openAt !== undefined && lobbyOpenAt >= openAt) {
    problems.push({ field: "lobbyOpenAt", message: "lobbyOpenAt must be before openAt" })
  }
  return problems
}

const admissionProblems = (configuration: Configuration): ReadonlyArray<Problem> => {
  const { standby, admitBurst, admissionRenewal, admissionExpirationSeconds } = configuration
  const problems: Array<Problem> = []
  if (admitBurst !== undefined && standby !== true) {
    problems.push({ field: "admitBurst", message: "admitBurst needs standby" })
  }
  if (admissionRenewal !== undefined && admissionRenewal.idleSeconds > admissionRenewal.maxSeconds) {
    problems.push({ field: "admissionRenewal", message: "idleSeconds must be at most maxSeconds" })
  }
  if (admissionRenewal !== undefined && admissionExpirationSeconds !== undefined) {
    problems.push({ field: "admissionRenewal", message: "admissionRenewal excludes admissionExpirationSeconds" })
  }
  return problems
}

/** The configuration before the first `Configured` event. It admits no consumer. */
export const unconfigured: Configuration = {
  name: "",
  timeZone: "UTC",
  supportsGuest: false,
  admitRate: 0,
  recycleExpiredAdmissions: false,
  loyaltyBiasEnabled: false,
  loyaltyHeadStartSeconds: 0
}
