/** Findings about what a drop needs besides its mechanisms: texts, pages, webhooks, messages, origins. */
import { placeholders } from "../experience/creative/rendering/Placeholders.ts"
import { type Kind, lateGrantKinds } from "../mechanism/Mechanism.ts"
import { sendsGrantMessages } from "../organization/Organization.ts"
import { canonicalTag } from "../values/LanguageTag.ts"
import { type CheckedDrop, mechanismsOf, quoted } from "./CheckedDrop.ts"
import { error, type Finding, warning } from "./Finding.ts"

export const surroundingFindings = (drop: CheckedDrop): ReadonlyArray<Finding> => [
  ...textFindings(drop),
  ...pageFindings(drop),
  ...messageFindings(drop),
  ...webhookFindings(drop),
  ...organizationFindings(drop)
]

/** A text that one language has is missing in another one, so visitors read two languages. */
const textFindings = ({ experience: { id, i18n = {} } }: CheckedDrop): ReadonlyArray<Finding> => {
  const at = { record: "experience", id, field: "i18n" } as const
  const texts = Object.entries(i18n).map(([language, words]) => ({
    language,
    names: typeof words === "object" && words !== null ? Object.keys(words) : []
  }))
  const all = [...new Set(texts.flatMap(({ names }) => names))]
  return texts.flatMap(({ language, names }) => {
    if (!isLanguage(language)) {
      return [warning("LANGUAGE_UNKNOWN", `${quoted(language)} is no language, so nobody reads its texts.`, at)]
    }
    const missing = all.filter((name) => !names.includes(name))
    if (missing.length === 0) return []
    const shown = missing.slice(0, 3).join(", ")
    const more = missing.length > 3 ? ` and ${missing.length - 3} more` : ""
    const message = `The texts in ${quoted(language)} lack ${shown}${more}, which another language has. Usher's own words stand there.`
    return [warning("TEXT_MISSING", message, at)]
  })
}

const languageNames = new Intl.DisplayNames(["en"], { type: "language", fallback: "none" })

/** Whether the tag names a language that people know: a tag such as `german` is well formed and names none. */
const isLanguage = (text: string): boolean => {
  const tag = canonicalTag(text)
  return tag !== undefined && languageNames.of(tag) !== undefined
}

const pageFindings = ({ pages }: CheckedDrop): ReadonlyArray<Finding> =>
  pages
    .filter(({ status }) => status === "DRAFT")
    .map(({ id, title }) =>
      warning("PAGE_NOT_PUBLISHED", `The page ${quoted(title)} is a draft that nobody sees.`, {
        record: "page",
        id,
        field: "status"
      })
    )

const toldKinds: ReadonlyArray<Kind> = lateGrantKinds

/** What is missing in the texts of messages about grants. Without messages nobody reads them. */
const messageFindings = (drop: CheckedDrop): ReadonlyArray<Finding> => {
  if (!sendsGrantMessages(drop.organization)) return []
  const expires = mechanismsOf(drop).some(
    ({ kind, settings }) => toldKinds.includes(kind) && settings.admissionExpirationSeconds !== undefined
  )
  return drop.messages.flatMap(({ id, title, placeholders: used }) => {
    const at = { record: "page", id, field: "creativeDocument" } as const
    const unknown = used.filter((name) => !Object.hasOwn(placeholders, name))
    const isTimeless = expires && !used.includes("expiresAt") && !used.includes("expiresAtText")
    return [
      ...unknown.map((name) => {
        const message = `The message ${quoted(title)} has the placeholder {{${name}}}, which is unknown. Its readers see nothing there.`
        return warning("PLACEHOLDER_UNKNOWN", message, at)
      }),
      ...(isTimeless
        ? [
            warning(
              "PLACEHOLDER_MISSING",
              `The message ${quoted(title)} does not say until when a turn lasts. Its text needs {{expiresAtText}}.`,
              at
            )
          ]
        : [])
    ]
  })
}

const webhookFindings = ({ webhooks }: CheckedDrop): ReadonlyArray<Finding> => {
  const at = { record: "webhook" } as const
  const failed = webhooks
    .filter(({ disabledReason }) => disabledReason === "GONE" || disabledReason === "FAILING")
    .map(({ id, url }) =>
      error("WEBHOOK_DISABLED", `The webhook to ${url} is disabled, because its endpoint failed.`, {
        ...at,
        id,
        field: "status"
      })
    )
  const isTold = webhooks.some(({ events }) => events.some((type) => type.startsWith("order.")))
  if (isTold) return failed
  const message = "No webhook reports orders, so no system of yours learns of a purchase or of its cancellation."
  return [...failed, warning("NO_WEBHOOK", message, { ...at, field: "events" })]
}

const organizationFindings = (drop: CheckedDrop): ReadonlyArray<Finding> => {
  const { grantMessages = "off", allowedOrigins = [] } = drop.organization
  const at = { record: "organization" } as const
  const selecting = mechanismsOf(drop).filter(
    ({ settings }) => settings.drawAt !== undefined || settings.auctionType === "english"
  )
  const findings: Array<Finding> = []
  if (selecting.length > 0 && grantMessages === "off") {
    const names = selecting.map(({ settings }) => quoted(settings.name)).join(", ")
    const message = `Who wins ${names} gets no message, and learns of it only in the room.`
    findings.push(warning("WINNERS_NOT_TOLD", message, { ...at, field: "grantMessages" }))
  }
  if (allowedOrigins.length === 0) {
    const message = "Browsers may call the API from any site. Name the origins of your shop."
    findings.push(warning("ANY_ORIGIN", message, { ...at, field: "allowedOrigins" }))
  }
  return findings
}
