/**
 * The settings of the organization: the brand, its shops, messages to consumers, and the gate for
 * bots. Each part is a form of its own.
 */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { defaultSmsCodesPerDay } from "../../../domain/organization/Organization.ts"
import { defaultCurrencyCode, defaultTimeZone } from "../../../domain/values/Locale.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { type Html, html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { type Choice, Form, type Problems, problemsOf, type Sent } from "../form/Form.ts"
import { numberIn, textIn, timeZones } from "../form/Typed.ts"
import { formId } from "../FormId.ts"
import { get, post, type Reply, type Route, type RouteRequest } from "../Route.ts"
import { facts } from "../Table.ts"

type Organization = AdminAnswer<"organizations", "getOrganization">

export const path = "/dashboard/organization"

/** Who sends messages, by channel; empty where none is set. */
export interface Senders {
  readonly email: string
  readonly phone: string
}

/** A part of the settings. */
interface Part {
  readonly name: "" | "/messages" | "/protection"
  readonly title: string
  readonly button: string
  readonly fields: (form: Form, organization: Organization, senders: Senders) => Html
  /** The part as those read it who cannot change it. */
  readonly shown: (organization: Organization) => ReadonlyArray<readonly [string, string | number | null]>
  readonly payload: (fields: URLSearchParams) => object
}

/** The routes of settings. */
export const make = (api: AdminApiClient["Service"], senders: Senders): ReadonlyArray<Route> => {
  const show = makeShow(api, senders)
  return [
    get("/organization", (operator) => show(operator)),
    ...parts.map((part) => post(`/organization${part.name}`, "admin", makeChange(api, part, show)))
  ]
}

/** The part that was refused. */
interface Refused extends Sent {
  readonly part: Part
  readonly problems: Problems
}

/** True if the operator can change the organization. A test key cannot. */
export const mayChange = ({ role, tenant }: Operator): boolean => mayDo(role, "admin") && tenant.mode === "live"

const makeShow = (api: AdminApiClient["Service"], senders: Senders) =>
  Effect.fnUntraced(function* (operator: Operator, refused?: Refused) {
    const organization = yield* api.run(operator, "organizations", "getOrganization", {})
    const cardOf = (part: Part): Html => {
      if (!mayChange(operator)) {
        return html`<section class="card">
          <h2>${part.title}</h2>
          ${facts(part.shown(organization))}
        </section>`
      }
      const form = new Form(refused?.part === part ? refused : undefined, `${part.name.slice(1)}-`)
      const fields = part.fields(form, organization, senders)
      return html`<section class="card">
        <h2>${part.title}</h2>
        ${form.summary("Nothing was changed. This needs another look:")}
        <form method="post" action="${path}${part.name}">
          ${formId()}${fields}
          <button>${part.button}</button>
        </form>
      </section>`
    }
    return {
      title: "Settings",
      status: refused === undefined ? 200 : 400,
      body: html`
        ${!mayChange(operator) && html`<p class="muted">An admin can change this in live mode.</p>`}
        ${parts.map(cardOf)}
        <p><a class="button quiet" href="/dashboard/security-events">Security events</a></p>
      `
    }
  })

/** Makes the form that changes what it has fields for. */
const makeChange = (api: AdminApiClient["Service"], part: Part, show: ReturnType<typeof makeShow>) =>
  Effect.fnUntraced(function* (operator: Operator, { fields }: RouteRequest) {
    const payload = part.payload(fields)
    return yield* api.run(operator, "organizations", "changeOrganization", { payload }).pipe(
      Effect.map(({ name }): Reply => ({
        goTo: path,
        done: part.name === "" ? `Saved. Consumers read the name ${name}.` : "Saved."
      })),
      Effect.catchTag("Refusal", (refusal) =>
        refusal.status === 400
          ? show(operator, { part, fields, problems: problemsOf(refusal, fieldAt) })
          : Effect.fail(refusal)
      )
    )
  })

/** The field for the path of a value. A list is one field. */
const fieldAt = ([setting, inner]: ReadonlyArray<string>): string | undefined =>
  setting === "challenge" ? `challenge.${inner}` : setting

export const nameField = (form: Form, value: string): Html =>
  form.input("name", {
    label: "Name",
    value,
    autocomplete: "organization",
    hint: "Consumers read it in rooms and messages."
  })

const brand: Part = {
  name: "",
  title: "Brand and shops",
  button: "Save",
  fields: (form, { name, allowedOrigins, timeZone, currencyCode }) => html`
    <div class="columns">
      ${nameField(form, name)}
      ${form.select("timeZone", {
        label: "Time zone",
        value: timeZone ?? defaultTimeZone,
        choices: timeZones(timeZone ?? defaultTimeZone),
        hint: "New drops begin with it."
      })}
      ${form.input("currencyCode", {
        label: "Currency",
        value: currencyCode ?? defaultCurrencyCode,
        hint: "New drops begin with it. Three letters, such as EUR."
      })}
    </div>
    ${form.area("allowedOrigins", {
      label: "Addresses of your shops",
      value: (allowedOrigins ?? []).join("\n"),
      placeholder: "https://shop.example",
      hint:
        "One on each line. Rooms lead to the page of a product, and lead visitors who came from one of these shops back " +
        "to it. Only their pages may use the Consumer API; without one, any page may."
    })}
  `,
  shown: ({ name, allowedOrigins, timeZone, currencyCode }) => [
    ["Name", name],
    ["Addresses of your shops", (allowedOrigins ?? []).join(" ")],
    ["Time zone", timeZone],
    ["Currency", currencyCode]
  ],
  payload: (fields) => {
    const origins = fields.get("allowedOrigins")
    return {
      name: textIn(fields, "name") ?? "",
      ...(fields.has("timeZone") && { timeZone: fields.get("timeZone") }),
      ...(fields.has("currencyCode") && { currencyCode: textIn(fields, "currencyCode")?.toUpperCase() ?? null }),
      ...(origins !== null && { allowedOrigins: origins.split(/\s+/).filter((origin) => origin !== "") })
    }
  }
}

const channels: ReadonlyArray<Choice> = [
  ["off", "No message"],
  ["email", "Email"],
  ["sms", "SMS"],
  ["email_or_sms", "Email, else SMS"]
]

const messages: Part = {
  name: "/messages",
  title: "Messages",
  button: "Save messages",
  fields: (form, organization, senders) => html`
    <p class="muted">
      Email comes from ${senders.email || "this machine only, until a mail server is set"}, SMS from
      ${senders.phone || "this machine only, until a provider is set"}. The operator of the installation sets both.
      Codes begin with the name of the brand.
    </p>
    <div class="columns">
      ${form.select("grantMessages", {
        label: "When it is a person's turn",
        value: organization.grantMessages ?? "off",
        choices: channels,
        hint: "Usher has words for it. Your developers can set others for a drop by the Admin API."
      })}
      ${form.input("operationsEmail", {
        label: "Address for what fails",
        type: "email",
        value: organization.operationsEmail ?? "",
        isOptional: true,
        hint: "Such as a webhook that is disabled. Empty: the admins get it."
      })}
      ${form.input("defaultCountry", {
        label: "Country of phone numbers",
        value: organization.defaultCountry ?? "",
        isOptional: true,
        placeholder: "FR",
        hint: "Of numbers without a country code. Two letters."
      })}
      ${form.input("smsCountries", {
        label: "Countries that get SMS",
        value: (organization.smsCountries ?? []).join(" "),
        isOptional: true,
        placeholder: "FR BE CH",
        hint: "Empty: the country of phone numbers alone, or any without one, which invites fraud."
      })}
      ${form.input("smsCodesPerDay", {
        label: "Most codes by SMS in a day",
        type: "number",
        value: organization.smsCodesPerDay ?? "",
        isOptional: true,
        placeholder: `${defaultSmsCodesPerDay}`,
        hint: `Empty: ${defaultSmsCodesPerDay}.`
      })}
    </div>
  `,
  shown: ({ grantMessages, operationsEmail, smsCountries }) => [
    ["When it is a person's turn", channels.find(([value]) => value === (grantMessages ?? "off"))![1]],
    ["Address for what fails", operationsEmail],
    ["Countries that get SMS", (smsCountries ?? []).join(" ")]
  ],
  payload: (fields) => ({
    grantMessages: fields.get("grantMessages"),
    operationsEmail: textIn(fields, "operationsEmail") ?? null,
    defaultCountry: textIn(fields, "defaultCountry")?.toUpperCase() ?? null,
    smsCountries:
      textIn(fields, "smsCountries")
        ?.toUpperCase()
        .split(/[\s,]+/) ?? null,
    smsCodesPerDay: numberIn(fields, "smsCodesPerDay") ?? null
  })
}

const modes: ReadonlyArray<Choice> = [
  ["", "By itself: in live mode when many arrive"],
  ["adaptive", "When many arrive, in test mode too"],
  ["always", "Always"],
  ["off", "Never"]
]

const providers: ReadonlyArray<Choice> = [
  ["proof_of_work", "A computation in the browser"],
  ["turnstile", "Cloudflare Turnstile"],
  ["hcaptcha", "hCaptcha"]
]

const protection: Part = {
  name: "/protection",
  title: "Bot protection",
  button: "Save protection",
  fields: (form, { challenge, oneAccountPerMailbox }) => html`
    <div class="columns">
      ${form.select("challenge.mode", {
        label: "Browsers must show that they are no program",
        value: challenge?.mode ?? "",
        choices: modes
      })}
      ${form.select("challenge.provider", {
        label: "By",
        value: challenge?.provider ?? "proof_of_work",
        choices: providers
      })}
      ${form.input("challenge.siteKey", {
        label: "Site key",
        value: challenge?.siteKey ?? "",
        isOptional: true,
        hint: "Of your account at Turnstile or hCaptcha."
      })}
      ${form.input("challenge.secretKey", {
        label: "Secret key",
        type: "password",
        isOptional: true,
        autocomplete: "off",
        hint: challenge?.hasSecretKey === true ? "Empty: the present one stays." : "Of the same account."
      })}
      ${form.select("challenge.fallback", {
        label: "While that service is out of reach",
        value: challenge?.fallback ?? "proof_of_work",
        choices: [
          ["proof_of_work", "A computation instead"],
          ["none", "Nobody passes until it is back"]
        ]
      })}
      ${form.select("oneAccountPerMailbox", {
        label: "Spellings of one mailbox",
        value: oneAccountPerMailbox === false ? "no" : "yes",
        choices: [
          ["yes", "Are one account"],
          ["no", "Are accounts of their own"]
        ],
        hint: "Such as a.b+drop@gmail.com and ab@gmail.com."
      })}
    </div>
  `,
  shown: ({ challenge }) => [
    ["Challenge", modes.find(([value]) => value === (challenge?.mode ?? ""))![1]],
    ["By", providers.find(([value]) => value === (challenge?.provider ?? "proof_of_work"))![1]]
  ],
  payload: (fields) => {
    const named = (name: string) => textIn(fields, `challenge.${name}`)
    const set = ["mode", "provider", "siteKey", "secretKey", "fallback"].flatMap((name) => {
      const value = named(name)
      return value === undefined ? [] : [[name, value]]
    })
    return { challenge: Object.fromEntries(set), oneAccountPerMailbox: fields.get("oneAccountPerMailbox") !== "no" }
  }
}

const parts: ReadonlyArray<Part> = [brand, messages, protection]

/** Warns of an organization whose rooms lead to no shop but a product's. */
export const makeShopNote = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator) {
    const { allowedOrigins } = yield* api.run(operator, "organizations", "getOrganization", {})
    return (
      (allowedOrigins ?? []).length === 0 &&
      html`<p class="muted">
        No shop is allowed yet: the room leads only to the page of a product, and visitors from another shop cannot
        return to it. <a href="${path}">Add the address of your shop</a>
      </p>`
    )
  })
