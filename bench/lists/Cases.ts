/**
 * The requests to measure: the first page, a deep page and a page near the end of every list in the Admin API
 * description, in each order, with each filter, and searched. A list or filter without an entry here is an error, so
 * that a new one is measured too.
 */
import { declarations, kinds } from "../../src/domain/mechanism/Mechanism.ts"
import type { Made } from "./MoreRecords.ts"

/** The part of an API description that declares lists. */
export interface Description {
  readonly paths: {
    readonly [path: string]: {
      readonly get?: { readonly parameters?: ReadonlyArray<{ readonly name: string; readonly schema: object }> }
    }
  }
}

export interface Case {
  /** The path of the list as the description declares it. */
  readonly list: string
  readonly name: string
  readonly path: string
  /** The pages to walk before the measured page: none, a fixed number, or to the end and one back. */
  readonly walk: "none" | "deep" | "end"
}

interface Known {
  /** Search terms: rare, common, absent, and common but not at the start of an order. */
  readonly terms?: ReadonlyArray<string>
  /** The values for each filter. */
  readonly filters?: { readonly [name: string]: ReadonlyArray<string> }
  /** The ids to put into the path. */
  readonly ids?: ReadonlyArray<string>
}

const absent = "qqqqqq"
const ofMany = ["summer 17", "archive", "zenith", absent]
const ofConsumers = ["ada adeyemi", "example.com", "zoe", "partner", absent]

const ofAllTime = { from: ["2026-01-01T00:00:00Z"], until: ["2100-01-01T00:00:00Z"] }
const ofSecurityEvents = { ...ofAllTime, type: ["sign_in"], clientAddress: ["192.0.2.1"] }
const ofAuditLog = { ...ofAllTime, type: ["experience.created"], actor: ["operator"] }

const ofAddresses = { channel: ["email"], address: [`${absent}@example.com`] }

const knownOfConsumers = ({ queueId, auctionId, appointmentId, consumerId, sequenceId, experienceId }: Made) => ({
  "/distributions/{id}/consumers": {
    ids: [queueId],
    terms: [...ofConsumers, consumerId, consumerId.slice(0, 8)],
    // No queue has bookings.
    filters: {
      status: ["QUEUED", "GRANTED"],
      slotId: [sequenceId],
      confirmationCode: ["ABSENT"],
      minRiskScore: ["0.5"],
      contact: ["reachable", "unproved"]
    }
  },
  // Neither the auction has bids, nor the appointment bookings.
  "/auctions/{id}/bids": { ids: [auctionId], filters: { status: ["WINNING"] } },
  "/appointments/{id}/bookings": { ids: [appointmentId], filters: { day: ["2099-01-01"], status: ["BOOKED"] } },
  "/consumers": {
    terms: [...ofConsumers, consumerId],
    filters: { archived: ["true"], type: ["authenticated", "guest"] }
  },
  "/consumers/{id}/sessions": { ids: [consumerId], filters: { type: ["authenticated", "guest"] } },
  "/consumers/{id}/places": {
    ids: [consumerId],
    filters: { type: ["queue", "draw"], experienceId: [experienceId], active: ["true"] }
  }
})

/** Returns the terms, filters and ids of each list. */
export const knownOf = (made: Made): { readonly [path: string]: Known } => {
  const { experienceId, sequenceId, productId, consumerId } = made
  const archived = ["true"]
  const ofKind = { terms: ofMany, filters: { archived, experienceId: [experienceId], sequenceId: [sequenceId] } }
  return {
    "/api-keys": {},
    "/experiences": { terms: ["drop", "velvet", "alpine cap", absent], filters: { archived } },
    // No experience was rehearsed.
    "/experiences/{id}/rehearsals": { ids: [experienceId] },
    "/sequences": { terms: ["general", ...ofMany], filters: { archived, experienceId: [experienceId] } },
    ...Object.fromEntries(kinds.map((kind) => [`/${declarations[kind].path}`, ofKind])),
    "/distributions": {
      terms: ofMany,
      filters: { archived, type: ["queue"], lifecycle: ["open", "closed", "settling"], experienceId: [experienceId] }
    },
    "/distributions/{id}/history": { ids: [made.queueId], filters: { type: ["Entered", "Ended"] } },
    "/audiences": { terms: ofMany, filters: { archived } },
    "/audiences/{id}/members": { ids: [made.audienceId, made.dynamicAudienceId], terms: ofConsumers },
    "/variant-options": { terms: ofMany, filters: { archived } },
    "/variant-options/{id}/values": { ids: [made.optionId], filters: { archived } },
    "/sync-sources": { terms: ofMany, filters: { archived, syncStatus: ["PENDING", "FAILED"] } },
    "/webhooks": { terms: [absent], filters: { archived } },
    // No webhook has deliveries, and no tenant has security events or an audit log.
    "/webhooks/{id}/deliveries": { ids: [consumerId], filters: { status: ["FAILED"] } },
    "/receivers": { terms: [absent], filters: { archived } },
    "/stocks": { terms: [absent], filters: { archived } },
    "/stocks/{id}/history": { ids: [made.queueId], filters: { type: ["Adjusted"] } },
    "/gates": { terms: [absent], filters: { archived } },
    "/pictures": {},
    "/fonts": {},
    // No receiver has events.
    "/receivers/{id}/events": { ids: [consumerId], filters: { status: ["FAILED"] } },
    // No message was sent, and no address is stopped.
    "/messages": { filters: { ...ofAddresses, status: ["FAILED"], purpose: ["GRANT"], consumerId: [consumerId] } },
    "/stopped-addresses": { filters: { ...ofAddresses, reason: ["BOUNCED"] } },
    "/people": { terms: [absent], filters: { archived, role: ["admin"] } },
    "/security-events": { filters: { ...ofSecurityEvents, consumerId: [consumerId] } },
    "/audit-log": { filters: { ...ofAuditLog, subjectId: [experienceId] } },
    "/media-assets": { terms: ofMany, filters: { archived } },
    "/products": { terms: ["alpine cap", "velvet", "sneaker", absent], filters: { archived } },
    "/variants": { terms: ["alpine-cap", "velvet", "sneaker", absent], filters: { archived, productId: [productId] } },
    "/experience-pages": {
      terms: ["alpine cap: finale", "velvet", "sneaker", absent],
      filters: { archived, experienceId: [experienceId], status: ["DRAFT", "PUBLISHED"] }
    },
    ...knownOfConsumers(made),
    "/orders": {
      terms: ["-a1b2", "-1-", "-0", absent],
      filters: {
        status: ["PAID", "CREATED"],
        consumerId: [consumerId],
        experienceId: [experienceId],
        distributionId: [made.queueId]
      }
    }
  }
}

const common = new Set(["first", "after", "last", "before", "sortBy", "sortDir", "search", "id", "optionId"])

/**
 * Returns the lists of a description: each path with a sort parameter, its sort fields, its filters and whether it is
 * searched.
 */
export function listsOf({ paths }: Description) {
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const parameters = get?.parameters ?? []
    const sortBy = parameters.find(({ name }) => name === "sortBy")
    if (sortBy === undefined) return []
    return [
      {
        path: path.replace(/^\/api/, "").replace(/\{[^}]*\}/, "{id}"),
        sorts: choicesIn(sortBy.schema),
        filters: parameters.flatMap(({ name }) => (common.has(name) ? [] : [name])),
        isSearched: parameters.some(({ name }) => name === "search")
      }
    ]
  })
}

/** Returns the lists and parameters of a description that have no entry in `known`. */
export function unknownIn(description: Description, known: { readonly [path: string]: Known }): ReadonlyArray<string> {
  return listsOf(description).flatMap(({ path, filters, isSearched }) => {
    const ofPath = known[path]
    if (ofPath === undefined) return [path]
    const missing = filters.filter((name) => ofPath.filters?.[name] === undefined)
    if (isSearched && ofPath.terms === undefined) missing.push("search")
    return missing.map((name) => `${path}?${name}`)
  })
}

/** Returns all cases of a description. Throws if a list or a filter has no entry in `knownOf`. */
export function casesOf(description: Description, made: Made): ReadonlyArray<Case> {
  const known = knownOf(made)
  const unknown = unknownIn(description, known)
  if (unknown.length > 0) throw new Error(`Add ${unknown.join(", ")} to knownOf in bench/lists/Cases.ts`)
  return listsOf(description).flatMap(({ path: list, sorts }) => {
    const { ids = [""], terms = [], filters = {} } = known[list]!
    return ids.flatMap((id, index) => {
      const path = list.replace("{id}", id)
      const nameOf = (query: string) => `${list}${ids.length > 1 ? ` ${index + 1}` : ""} ${query}`
      const narrowings = Object.entries(filters).flatMap(([name, values]) => values.map((value) => `&${name}=${value}`))
      const found = terms.map((term) => `&search=${encodeURIComponent(term)}`)
      const searches =
        filters["archived"] === undefined ? found : [...found, ...found.map((more) => `&archived=true${more}`)]
      // Members of a dynamic audience are listed by age alone.
      const own = index === 1 && list === "/audiences/{id}/members" ? sorts.slice(0, 1) : sorts
      return own.flatMap((sortBy) =>
        (["asc", "desc"] as const).flatMap((sortDir): ReadonlyArray<Case> => {
          const order = `sortBy=${sortBy}&sortDir=${sortDir}`
          const made = (query: string, walk: Case["walk"] = "none"): Case => ({
            list,
            name: `${nameOf(query)}${walk === "none" ? "" : `, ${walk}`}`,
            path: `${path}?${query}`,
            walk
          })
          return [
            made(order),
            made(`${order}&first=100`),
            made(`${order}&first=100`, "deep"),
            made(order, "end"),
            ...[...narrowings, ...searches].flatMap((more) => [made(order + more), made(order + more, "end")]),
            ...searches.map((more) => made(order + more, "deep"))
          ]
        })
      )
    })
  })
}

interface Choice {
  readonly enum?: ReadonlyArray<string>
  readonly anyOf?: ReadonlyArray<Choice>
}

const choicesIn = (choice: Choice): ReadonlyArray<string> => choice.enum ?? choice.anyOf?.flatMap(choicesIn) ?? []
