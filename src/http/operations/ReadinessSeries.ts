/** Series of the report at `/ready`, and of the certificate that the process serves. */
import { Clock, Effect } from "effect"
import { X509Certificate } from "node:crypto"
import { readFileSync } from "node:fs"
import type { Report } from "../../engine/lifecycle/Readiness.ts"
import { by, type Family, gauge, only } from "../../measures/Family.ts"
import { Settings } from "../../settings/Settings.ts"

/** The subjects of remarks, and of a fact that is a problem. Each has a series, also while there is nothing to remark. */
const subjects = ["wake-ups", "parked mechanisms", "redis", "proxy"]

/** Makes the function that reads the series from a report. */
export const make = Effect.gen(function* () {
  const { tlsCertFile } = yield* Settings
  // The listeners have read the file too, once at the start, and would have refused an unusable one.
  const expiresAt =
    tlsCertFile === undefined ? Infinity : new X509Certificate(readFileSync(tlsCertFile)).validToDate.getTime()
  return Effect.fnUntraced(function* ({ isReady, remarks, facts }: Report) {
    const now = yield* Clock.currentTimeMillis
    const families: ReadonlyArray<Family> = [
      gauge("usher_ready", "1 while /ready answers 200.", only(isReady ? 1 : 0)),
      gauge(
        "usher_remark",
        "1 while /ready has a remark on the subject.",
        by(
          "subject",
          subjects.map((subject) => [subject, subject in remarks || subject in facts ? 1 : 0])
        )
      ),
      gauge(
        "usher_certificate_remaining_seconds",
        "Until the certificate expires; infinite without one.",
        only((expiresAt - now) / 1_000)
      )
    ]
    return families
  })
})
