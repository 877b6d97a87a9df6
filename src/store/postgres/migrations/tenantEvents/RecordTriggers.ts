/**
 * The triggers that note what happens to records. Values are default-deny. `columns` are compared, and of those that
 * differ the names are stored. Only fields in `shown` are stored with their values: no secret, no address, no free-form
 * object.
 */

/**
 * A table with events. `when` limits a trigger; without `action` the event is named by what happened to the row. The event
 * also has the columns in `context`, as they are after it. Webhooks report them.
 */
interface Noted {
  readonly table: string
  readonly kind: string
  readonly columns: string
  readonly shown: string
  readonly context?: string
  /** True: rows of other tables belong to the record. They are replaced with a change of the record, which names no field then. */
  readonly hasLists?: true
  readonly action?: string
  readonly on?: "insert" | "update"
  readonly name?: string
  readonly when?: string
}

const isStamped = "new.updated_at is distinct from old.updated_at"

/** The events of secrets in a column: one that an admin replaced, and one that an operator sealed. */
const secretsOf = (table: string, kind: string, column = "secret"): ReadonlyArray<Noted> =>
  (
    [
      ["secret_rotated", `new.${column} is distinct from old.${column} and ${isStamped}`],
      [
        "secret_sealed",
        `new.${column}_sealed_by is distinct from old.${column}_sealed_by and new.updated_at = old.updated_at`
      ]
    ] as const
  ).map(([action, when]) => ({ table, kind, name: action, action, on: "update", when, columns: column, shown: "" }))

const product = "primarySyncSourceId primaryExternalId primarySourceVendor"

const records: ReadonlyArray<Noted> = [
  {
    table: "experiences",
    kind: "experience",
    columns: "name record access_code_hash",
    hasLists: true,
    context: "name record.openAt record.closeAt",
    shown: "name openAt closeAt timeZone currencyCode theme challenge"
  },
  {
    table: "sequences",
    kind: "sequence",
    columns: "experience_id name record audience_id access_code_hash",
    shown: "experienceId name priority productSelectionMode sequenceProducts audienceId orderLimitPerConsumer"
  },
  {
    table: "experience_pages",
    kind: "experience_page",
    columns: "experience_id slug title status creative_document record",
    shown: "experienceId slug title status creativeDesignId creativeTemplateKey"
  },
  {
    table: "products",
    kind: "product",
    columns: "name record default_variant_id primary_sync_source_id",
    hasLists: true,
    shown: `name url handle description defaultVariantId ${product}`
  },
  {
    table: "product_variants",
    kind: "variant",
    columns: "product_id sku record primary_sync_source_id",
    hasLists: true,
    shown: `productId sku price inventoryQuantity inventoryPolicy ${product}`
  },
  {
    table: "media_assets",
    kind: "media_asset",
    columns: "name record",
    shown: "name altText description mimeType publicUrl thumbnailUrl"
  },
  {
    table: "sync_sources",
    kind: "sync_source",
    columns: "sync_source sync_source_id record",
    shown: "syncSource syncSourceId syncStatus lastSyncedAt"
  },
  { table: "variant_options", kind: "variant_option", columns: "name record", shown: "name" },
  {
    table: "variant_option_values",
    kind: "variant_option_value",
    columns: "option_id value is_centrally_managed sort_order record",
    shown: "optionId value displayValue colorHex isCentrallyManaged sortOrder"
  },
  {
    table: "orders",
    kind: "order",
    columns:
      "consumer_id experience_id sequence_id distribution_id distribution_type external_id number status currency_code record total",
    shown: "consumerId experienceId sequenceId distributionId distributionType status currencyCode total items",
    context: "consumer_id experience_id sequence_id distribution_id status currency_code total"
  }
]

/** The administration: counts that the system computes again are no events, and neither are the states of deliveries. */
const administration: ReadonlyArray<Noted> = [
  {
    table: "audiences",
    kind: "audience",
    columns: "name type rules member_count",
    shown: "name type memberCount",
    on: "insert"
  },
  {
    table: "audiences",
    kind: "audience",
    columns: "name type rules member_count",
    shown: "name type memberCount",
    on: "update",
    when: isStamped
  },
  {
    table: "webhooks",
    kind: "webhook",
    columns: "url record",
    shown: "events description ordering schedule"
  },
  ...secretsOf("webhooks", "webhook"),
  ...(
    [
      ["disabled", "new.disabled_reason is not null and old.disabled_reason is null"],
      ["enabled", "new.disabled_reason is null and old.disabled_reason is not null"]
    ] as const
  ).map(([action, when]): Noted => ({
    table: "webhooks",
    kind: "webhook",
    name: action,
    action,
    on: "update",
    when,
    columns: "disabled_reason",
    shown: "disabledReason"
  })),
  {
    table: "organizations",
    kind: "organization",
    columns: "name plan settings",
    shown:
      "name plan allowedOrigins timeZone currencyCode accessTokenTtlSeconds refreshTokenTtlSeconds loyaltyFullScoreBalance " +
      "grantMessages defaultCountry smsCountries smsCodesPerDay oneAccountPerMailbox theme rateLimits"
  },
  { table: "api_keys", kind: "api_key", columns: "kind", shown: "kind", on: "insert" },
  {
    table: "api_keys",
    kind: "api_key",
    action: "revoked",
    columns: "revoked_at",
    shown: "revokedAt",
    on: "update",
    when: "new.revoked_at is not null and old.revoked_at is null"
  }
]

/** Timed events of an experience. */
const milestones = (["activated", "completed"] as const).map((action): Noted => ({
  table: "experiences",
  kind: "experience",
  name: action,
  action,
  on: "update",
  when: `new.${action}_at is not null and old.${action}_at is null`,
  columns: "name record",
  shown: "",
  context: "name record.openAt record.closeAt"
}))

const configuration =
  "kind name timeZone openAt closeAt supportsGuest admitRate admissionExpirationSeconds capacity maxAdmissions " +
  "recycleExpiredAdmissions grantsPerConsumer lobbyOpenAt loyaltyBiasEnabled loyaltyHeadStartSeconds drawAt winnerCount " +
  "continueSelectingUntilCompleted loyaltyWeight beacon settleAt auctionType currencyCode quantity autoExtendSeconds " +
  "startPrice reservePrice minBidIncrement maxBid maxBidJump floorPrice priceDropAmount priceDropIntervalSeconds " +
  "slotDurationMinutes slotsFrom slotsUntil bufferMinutes maxCapacityPerSlot locationId hours variantIds statusOverride"

/** Timed changes of a mechanism do not call the function at all. */
const mechanisms = (["insert", "update"] as const).map((on): Noted => ({
  table: "mechanisms",
  kind: "distribution",
  columns: "kind configuration status_override",
  shown: configuration,
  on,
  when: "new.updated_by is distinct from 'system'"
}))

/** Receivers, whose table a later migration creates. */
const receivers: ReadonlyArray<Noted> = [
  {
    table: "receivers",
    kind: "receiver",
    columns: "adapter description record",
    shown: "adapter description"
  },
  ...secretsOf("receivers", "receiver")
]

/** People, whose table a later migration creates. */
const people: ReadonlyArray<Noted> = [
  { table: "people", kind: "person", columns: "email name role record", shown: "role" }
]

const triggersOf = (tables: ReadonlyArray<Noted>): ReadonlyArray<string> =>
  tables.flatMap((noted) =>
    (noted.on === undefined ? (["insert", "update"] as const) : [noted.on]).map((on) => triggerOf(noted, on))
  )

/** The statements that create the triggers. */
export const recordTriggers = triggersOf([...records, ...milestones, ...administration, ...mechanisms])

/** The statements that create the triggers of receivers. */
export const receiverTriggers = triggersOf(receivers)

/** The statements that create the triggers of people. */
export const personTriggers = triggersOf(people)

/** The statements that create the triggers of the secret key for challenges. */
export const challengeTriggers = triggersOf(secretsOf("organizations", "organization", "challenge_secret"))

/** Sample data has no author, so it is not noted. */
function triggerOf(
  { table, kind, columns, shown, context = "", hasLists, action = "", name = "noted", when }: Noted,
  on: "insert" | "update"
) {
  const hasAuthor = table !== "organizations" && table !== "api_keys"
  const conditions = [
    ...(on === "insert" && hasAuthor ? ["new.created_by is distinct from 'seed'"] : []),
    ...(when === undefined ? [] : [when])
  ]
  const condition = conditions.length === 0 ? "" : `when (${conditions.join(" and ")})`
  return `create trigger ${table}_${on}_${name} after ${on} on ${table} for each row ${condition}
    execute function note_tenant_event('${kind}', '${action}', '${columns}', '${shown}', '${context}', '${hasLists ? "lists" : ""}')`
}
