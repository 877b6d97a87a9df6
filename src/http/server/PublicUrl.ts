/** Where consumers reach this installation: at `PUBLIC_URL`, else on this host. */
import { Effect } from "effect"
import { publicBaseOf, Settings } from "../../settings/Settings.ts"

export const make = Effect.map(Settings, (settings) => {
  const base = publicBaseOf(settings)
  return {
    base,
    roomUrl: (experienceId: string) => `${base}/e/${experienceId}`,
    /** The address at which the room of an experience takes over a visitor's session. */
    visitUrl: (experienceId: string, visitToken: string) => `${base}/e/${experienceId}/visit?token=${visitToken}`,
    keysUrl: `${base}/.well-known/jwks.json`
  }
})
