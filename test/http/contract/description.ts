/**
 * Every operation of both APIs according to its description: its input, its possible responses, and whether a body, a
 * parameter or a response matches.
 */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js"
import addFormats from "ajv-formats"
import { OpenApi } from "effect/http-api"
import { AdminApi } from "../../../src/api/admin/AdminApi.ts"
import { ConsumerApi } from "../../../src/api/consumer/ConsumerApi.ts"
import { type Operation, operations } from "../matrix/operations.ts"
import type { Answer } from "../support/usherFixture.ts"

/** A JSON Schema. */
export interface Schema {
  readonly [keyword: string]: any
}

/** A parameter in the path or the query. */
export interface Parameter {
  readonly name: string
  readonly in: "path" | "query"
  readonly schema: Schema
  readonly required: boolean
  /** Whether a text is one of its values. Numbers and booleans are sent as text. */
  readonly accepts: (text: string) => boolean
}

/** The body of an operation's request. */
export interface Body {
  readonly schema: Schema
  readonly isOptional: boolean
  readonly accepts: (value: unknown) => boolean
}

/** An operation and its declaration. */
export interface Declared {
  readonly operation: Operation
  readonly parameters: ReadonlyArray<Parameter>
  readonly body?: Body
  /** Returns the schema behind a reference. */
  readonly resolve: (schema: Schema) => Schema
  /** Returns the first undeclared part of a response; undefined if there is none. */
  readonly undeclared: (answer: Answer) => string | undefined
}

/** Returns the declarations of all operations. */
export function declarations(): ReadonlyArray<Declared> {
  const apis = {
    consumer: new Description(OpenApi.fromApi(ConsumerApi)),
    admin: new Description(OpenApi.fromApi(AdminApi))
  }
  return operations.map((operation) => apis[operation.api].declarationOf(operation))
}

/** One API's description. Schemas are compiled on first use. */
class Description {
  private readonly spec: Schema
  private readonly validators = new Map<string, ValidateFunction>()
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: true })

  constructor(spec: object) {
    this.spec = spec
    addFormats.default(this.ajv)
    this.ajv.addSchema(spec, "declared")
    this.ajv.addSchema(closed(spec) as Schema, "exact")
  }

  declarationOf(operation: Operation): Declared {
    const path = operation.path.replace(/:(\w+)/g, "{$1}")
    const at = ["paths", path, operation.method.toLowerCase()]
    const declared = this.spec["paths"][path][operation.method.toLowerCase()]
    const content = declared.requestBody?.content["application/json"]
    const body: Body | undefined = content && {
      schema: content.schema,
      isOptional: declared.requestBody.required !== true,
      accepts: this.validator("declared", [...at, "requestBody", "content", "application/json", "schema"])
    }
    return {
      operation,
      parameters: (declared.parameters as ReadonlyArray<Parameter>)
        .map((parameter, index) => ({ ...parameter, index }))
        .filter((parameter) => parameter.in === "path" || parameter.in === "query")
        .map(({ index, ...parameter }) => {
          const validate = this.validator("declared", [...at, "parameters", `${index}`, "schema"])
          return { ...parameter, accepts: (text) => readings(text).some((value) => validate(value)) }
        }),
      ...(body !== undefined && { body }),
      resolve: (schema) => this.resolve(schema),
      undeclared: (answer) => this.undeclared([...at, "responses", `${answer.status}`], declared.responses, answer)
    }
  }

  private undeclared(at: ReadonlyArray<string>, responses: Schema, answer: Answer): string | undefined {
    const response = responses[`${answer.status}`]
    if (response === undefined) return `the status ${answer.status} is not declared`
    for (const [name, header] of Object.entries<Schema>(response.headers ?? {})) {
      const value = answer.headers[name.toLowerCase()]
      const isShared = header["$ref"] !== undefined
      const isRequired = this.resolve(header)["required"] === true
      if (value === undefined && isRequired) return `the header ${name} is missing`
      const where = isShared ? ["components", "headers", name] : [...at, "headers", name]
      const validate = this.validator("declared", [...where, "schema"])
      if (value !== undefined && !readings(value).some((reading) => validate(reading)))
        return `the header ${name} is ${value}`
    }
    const [type] = Object.keys(response.content ?? {})
    const sent = answer.headers["content-type"]?.split(";")[0]
    if (type !== sent) return `the content is ${sent ?? "absent"}, declared is ${type ?? "none"}`
    if (type !== "application/json") return undefined
    const validate = this.validator("exact", [...at, "content", type, "schema"])
    return validate(answer.body) ? undefined : `the body is not as declared: ${this.errorsOf(validate)}`
  }

  private errorsOf({ errors }: ValidateFunction): string {
    return this.ajv.errorsText((errors ?? []).slice(0, 4))
  }

  private validator(root: "declared" | "exact", at: ReadonlyArray<string>): ValidateFunction {
    const pointer = at.map((key) => encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))).join("/")
    const name = `${root}#/${pointer}`
    const known = this.validators.get(name)
    if (known !== undefined) return known
    const compiled = this.ajv.compile({ $ref: name })
    this.validators.set(name, compiled)
    return compiled
  }

  private resolve(schema: Schema): Schema {
    const reference: string | undefined = schema["$ref"]
    if (reference === undefined) return schema
    const { $ref: _, ...rest } = schema
    const [section, name] = reference.split("/").slice(-2) as [string, string]
    return { ...this.resolve(this.spec["components"][section][name]), ...rest }
  }
}

/** Returns the description without undeclared fields in objects, for checks of responses. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed)
  if (typeof node !== "object" || node === null) return node
  const entries = Object.entries(node).map(([key, value]) => [key, closed(value)] as const)
  const isClosable = "properties" in node && !("additionalProperties" in node) && "type" in node
  return { ...Object.fromEntries(entries), ...(isClosable && { additionalProperties: false }) }
}

/** Returns the values that a text may represent. */
function readings(text: string): ReadonlyArray<unknown> {
  const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text)
  return [text, ...(isNumber ? [Number(text)] : []), ...(text === "true" || text === "false" ? [text === "true"] : [])]
}
