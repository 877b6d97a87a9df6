/** Where consumers reach this installation: at `PUBLIC_URL`, else on this host. */
import { Effect } from "effect"
import { Settings } from "../../settings/Settings.ts"

export const make = Effect.map(Settings, ({ publicUrl, consumerPort, tlsCertFile }) => {
  const base = publicUrl ?? `${tlsCertFile === undefined ? "http" : "https"}://localhost:${consumerPort}`
  return {
    base,
    roomUrl: (experienceId: string) => `${base}/e/${experienceId}`,
    /** The address at which the room of an experience takes over a visitor's session. */
    visitUrl: (experienceId: string, visitToken: string) => `${base}/e/${experienceId}/visit?token=${visitToken}`,
    keysUrl: `${base}/.well-known/jwks.json`
  }
})
