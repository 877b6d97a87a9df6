/** Which organization and which webhook a command is about, with messages for the operator. */
import { Effect } from "effect"
import { Organizations } from "../../auth/keys/Organizations.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import { StartRefused } from "../../settings/Settings.ts"
import { webhooksOfAnyTenant } from "../../store/webhook/Webhooks.ts"

const refuse = (message: string) => Effect.fail(new StartRefused({ message }))

/** Returns the tenant: of the organization with this id, or of the only one. */
export const tenantOf = Effect.fnUntraced(function* (organizationId: string | undefined, mode: Mode) {
  const all = yield* (yield* Organizations).all
  const [found, another] = organizationId === undefined ? all : all.filter(({ id }) => id === organizationId)
  if (found !== undefined && another === undefined) return { organizationId: found.id, mode } satisfies Tenant
  const problem =
    organizationId === undefined
      ? `--organization: there ${found === undefined ? "is no organization" : "are several organizations, so name one"}.`
      : `--organization: there is no organization ${organizationId}.`
  return yield* refuse(`${problem} Run \`usher organizations list\` to see which there are.`)
})

/** Returns the webhook with this id, or the only one. */
export const webhookOf = Effect.fnUntraced(function* (id: string | undefined) {
  const [found, another] = yield* webhooksOfAnyTenant(id)
  if (found !== undefined && another === undefined) return found
  const problem =
    id === undefined
      ? `there ${found === undefined ? "is no webhook" : "are several webhooks, so name one"}`
      : `there is no webhook ${id}`
  return yield* refuse(`--webhook: ${problem}. \`GET /api/webhooks\` of the Admin API shows which there are.`)
})
