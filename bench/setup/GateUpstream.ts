// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/** What a gate asks of Usher, answered from memory: the record, the keys, no ended grants. And grants with cookies. */
import { generateKeyPairSync, type KeyObject, randomUUID, sign } from "node:crypto"
import { writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface GateUpstream {
  readonly url: string
  readonly gateId: string
  readonly cookie: string
  readonly keySet: { readonly keys: ReadonlyArray<object> }
  readonly claims: { readonly organizationId: string; readonly experienceId: string }
  /** Writes grants to a file, one a line. */
  readonly writeGrants: (file: string, count: number) => void
  readonly close: () => void
}

const ids = {
  gate: randomUUID(),
  queue: randomUUID(),
  experience: randomUUID(),
  organization: randomUUID()
}

const textOf = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** Makes the function that signs a grant of a visitor of its own. */
const makeGrants = (privateKey: KeyObject) => {
  const header = textOf({ alg: "EdDSA", typ: "JWT", kid: "bench" })
  const now = Math.floor(Date.now() / 1_000)
  return (): string => {
    const signed = `${header}.${textOf({
      type: "admission",
      iss: "usher",
      aud: "usher:admission",
      sub: randomUUID(),
      jti: `${ids.queue}.${randomUUID()}`,
      consumerId: randomUUID(),
      organizationId: ids.organization,
      mode: "live",
      distributionId: ids.queue,
      distributionType: "queue",
      experienceId: ids.experience,
      sequenceId: randomUUID(),
      iat: now,
      exp: now + 86_400
    })}`
    return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString("base64url")}`
  }
}

const recordAt = (url: string) => ({
  id: ids.gate,
  organizationId: ids.organization,
  mode: "live",
  version: "1",
  hosts: ["shop.example"],
  rules: [{ when: { pathPrefix: "/checkout" }, then: { queueId: ids.queue } }],
  failMode: "closed",
  cookie: {},
  returnPath: "/.usher/return",
  keysUrl: `${url}/.well-known/jwks.json`,
  queues: {
    [ids.queue]: {
      experienceId: ids.experience,
      state: "open",
      engaged: true,
      roomUrl: `${url}/e/${ids.experience}`,
      admissionRenewal: { idleSeconds: 60, maxSeconds: 86_400 }
    }
  }
})

export const openGateUpstream = async (): Promise<GateUpstream> => {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519")
  const keySet = { keys: [{ ...publicKey.export({ format: "jwk" }), alg: "EdDSA", use: "sig", kid: "bench" }] }
  const grant = makeGrants(privateKey)

  const answerTo = (path: string, body: string): object => {
    if (path === "/.well-known/jwks.json") return keySet
    if (path.endsWith("/ended")) return { data: [], until: new Date().toISOString(), next: null }
    if (!path.endsWith("/renew")) return recordAt(url)
    const { grants } = JSON.parse(body) as { readonly grants: ReadonlyArray<string> }
    return { renewed: grants.length, results: grants.map((jti) => ({ jti, expiresAt: null })) }
  }

  const server = createServer((incoming, outgoing) => {
    let body = ""
    incoming.setEncoding("utf8").on("data", (part: string) => (body += part))
    incoming.on("end", () => {
      outgoing.setHeader("content-type", "application/json").setHeader("etag", '"1"')
      outgoing.end(JSON.stringify(answerTo(incoming.url!.split("?")[0]!, body)))
    })
  })
  await new Promise<void>((listening) => void server.listen(0, "127.0.0.1", listening))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    url,
    gateId: ids.gate,
    cookie: `__Host-usher-grant-${ids.experience}`,
    keySet,
    claims: { organizationId: ids.organization, experienceId: ids.experience },
    writeGrants: (file, count) => writeFileSync(file, Array.from({ length: count }, () => `${grant()}\n`).join("")),
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}
