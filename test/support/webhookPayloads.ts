/** The payloads of webhooks according to the description of the Admin API. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { OpenApi } from "effect/http-api"
import { AdminApi } from "../../src/api/admin/AdminApi.ts"

interface DescribedRequest {
  readonly post: {
    readonly requestBody: { readonly content: { readonly "application/json": { schema: object; example: object } } }
  }
}

/** The entries of the description, by type. */
export const described = (): { readonly [type: string]: DescribedRequest } =>
  (OpenApi.fromApi(AdminApi) as unknown as { readonly webhooks: { readonly [type: string]: DescribedRequest } })
    .webhooks

const validators = new Map<string, ValidateFunction>()

/** Returns what is wrong with a payload: a field that is missing, malformed or not described. Undefined if nothing is. */
export function payloadProblem(payload: { readonly type: string }): string | undefined {
  if (validators.size === 0) {
    const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })
    addFormats.default(ajv)
    for (const [type, { post }] of Object.entries(described())) {
      validators.set(type, ajv.compile(closed(post.requestBody.content["application/json"].schema) as object))
    }
  }
  const validate = validators.get(payload.type)
  if (validate === undefined) return `${payload.type} is not described`
  const isValid: boolean = validate(payload)
  if (isValid)
    return eventsOf(payload)
      .map(payloadProblem)
      .find((problem) => problem !== undefined)
  return validate.errors!.map(({ instancePath, message }) => `${payload.type} ${instancePath} ${message}`).join("; ")
}

/** Returns the events of a batch; none for another payload. */
function eventsOf(payload: { readonly type: string }): ReadonlyArray<{ readonly type: string }> {
  const { data } = payload as { readonly data?: { readonly events?: ReadonlyArray<{ readonly type: string }> } }
  return payload.type === "events.batch" ? data!.events! : []
}

/** Returns the schema without undeclared fields in objects. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== "object" || node === null) return node
  const entries = Object.entries(node).map(([key, value]) => [key, closed(value)] as const)
  return { ...Object.fromEntries(entries), ...("properties" in node && { additionalProperties: false }) }
}
