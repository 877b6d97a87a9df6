/** Timed releases on the Admin API: the declaration (completions 3, "Timed release", and 4, "timed release"). */
import { OpenApi } from "effect/http-api"
import { Configuration } from "../../../domain/timedRelease/TimedRelease.ts"
import { mechanismGroup, schemasOf } from "../mechanism/MechanismApi.ts"

export const timedReleaseSchemas = schemasOf("TimedRelease", Configuration.fields, [])

export class TimedReleaseApi extends mechanismGroup(
  {
    group: "timed-releases",
    noun: "timed release",
    aNoun: "a timed release",
    name: "TimedRelease",
    creating:
      "`capacity` is the units to be had: who enters holds one until the grant expires, is denied or left, and keeps it by completing; without it there is no limit. Without `openAt` it is open at once, without `closeAt` until it is ended, without `admissionExpirationSeconds` grants do not expire, without `variantIds` any variant that its experience offers can be selected, and none where it offers no products. `timeZone` defaults to the experience's, `supportsGuest` to true. A consumer holds one grant at a time. `grantsPerConsumer` is how many it may have, one after another: used, left and expired ones count, and one more entry is a 409 `GRANT_LIMIT_REACHED`. Without it there is no limit, but a consumer that used its grant does not enter again.",
    changing: "`openAt` cannot be changed once it has opened (409 `CONFIGURATION_FIXED`).",
    ending: "nobody enters any more, grants already made stay valid until they expire."
  },
  timedReleaseSchemas
).annotateMerge(
  OpenApi.annotations({
    title: "Timed releases",
    description: "A grant for everybody who comes within the window, while units last."
  })
) {}
