/** Timed releases on the Admin API. */
import { OpenApi } from "effect/http-api"
import { Configuration, declaration } from "../../domain/timedRelease/TimedRelease.ts"
import { mechanismGroup, schemasOf } from "./MechanismApi.ts"

export const timedReleaseSchemas = schemasOf(declaration, Configuration.fields, [])

export class TimedReleaseApi extends mechanismGroup(
  declaration,
  {
    creating:
      "`capacity` is the number of units. Without it there is no limit. A consumer that enters holds one unit until " +
      "its grant expires, is denied or is left; completing keeps the unit. Without `variantIds` any variant of the " +
      "experience can be selected, and none if the experience has no products.\n\nWithout `openAt` the release is open " +
      "at once, without `closeAt` until it is ended. Without `admissionExpirationSeconds` grants do not expire. " +
      "`timeZone` defaults to the experience's, `supportsGuest` to true.\n\nA consumer holds one grant at a time. " +
      "`grantsPerConsumer` is the number of grants it may have, one after another. Used, left and expired grants " +
      "count; one more entry is a 409 `GRANT_LIMIT_REACHED`. Without it there is no limit, but a consumer that used " +
      "its grant cannot enter again.",
    changing: "`openAt` cannot be changed after the opening (409 `CONFIGURATION_FIXED`).",
    ending: "consumers can no longer enter, and grants already made stay valid until they expire."
  },
  timedReleaseSchemas
).annotateMerge(
  OpenApi.annotations({
    title: "Timed releases",
    description: "Grants one unit to every consumer that enters within the window, while units last."
  })
) {}
