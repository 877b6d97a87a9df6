/** The actions with which a visitor signs in, by mail or SMS, and out, and shows an access code. */
import { Effect } from "effect"
import type { VerifiedAccess } from "../../../domain/consumer/Session.ts"
import { plainCode } from "../../../domain/values/TypedCode.ts"
import type { ConsumerApiClient } from "../../ApiClients.ts"
import { Refusal } from "../../Refusal.ts"
import type { Scene } from "../Scene.ts"
import type { Sessions } from "../Session.ts"
import { accessCodeScreen, type NextAction, codeScreen, signInScreen, type ContactAddress } from "./SignInScreens.ts"
import { callerOf } from "../Visit.ts"
import {
  type ActionRequest,
  type ActionResult,
  type Fields,
  type Run,
  refusalVariation,
  type ActionRunner
} from "../ActionRunner.ts"

/** The action that a form requests after the sign-in. */
const nextActionIn = (fields: Fields): NextAction => ({
  action: fields.get("then") ?? undefined,
  at: fields.get("at") ?? undefined
})

/** The address of the form: a phone number if it has one, else an email address. */
const addressIn = (fields: Fields): ContactAddress => {
  const phone = fields.get("phone")
  return phone === null
    ? { channel: "email", value: (fields.get("email") ?? "").trim() }
    : { channel: "phone", value: phone.trim() }
}

/** Returns the session that a code starts. A guest keeps its places. */
const verified = (
  api: ConsumerApiClient["Service"],
  sessions: Sessions,
  { visit, fields }: ActionRequest
): Run<VerifiedAccess> => {
  const { channel, value } = addressIn(fields)
  const payload = {
    [channel]: value,
    code: plainCode(fields.get("code") ?? ""),
    requestId: fields.get("request") ?? ""
  }
  return api.run(callerOf(visit), "auth", "verifyOneTimeCode", { payload }).pipe(
    Effect.mapError((refusal) =>
      refusal.status === 400 ? new Refusal({ status: 401, code: "otp_invalid" }) : refusal
    ),
    Effect.flatMap(({ accessToken }) => sessions.ofAccessToken(accessToken))
  )
}

/** Shows the access code of the form. A wrong one can be typed again. */
const showCode = (
  api: ConsumerApiClient["Service"],
  { withSession }: ActionRunner,
  { visit, fields }: ActionRequest
): Run =>
  withSession(visit, (access) => {
    const params = { experienceId: visit.room.experienceId }
    const payload = { accessCode: fields.get("code") ?? "" }
    return api.run({ holder: visit.holder, access }, "experiences", "enter", { params, payload }).pipe(
      Effect.as<ActionResult>({}),
      Effect.catchTag("Refusal", (refusal) => {
        const isWrong = refusal.status === 403 || refusal.status === 400
        const shown = isWrong ? new Refusal({ status: 403, code: "ACCESS_CODE" }) : refusal
        return Effect.succeed<ActionResult>({ show: { refusal: shown, screen: accessCodeScreen } })
      })
    )
  })

/** The text of a page for an invalid address. */
const wrong = { email: "ADDRESS", phone: "PHONE" } as const

/** Makes the actions. `after` runs what a visitor wanted to do before it had to sign in. */
export const makeSignInActions = (
  api: ConsumerApiClient["Service"],
  sessions: Sessions,
  runner: ActionRunner,
  after: (name: string | null, context: ActionRequest) => Run
) => {
  const signedIn = (context: ActionRequest, session: VerifiedAccess): Run => {
    const visit = { ...context.visit, session: { ...session, isDue: false } }
    // The visitor is signed in also if what comes after is refused.
    return Effect.match(after(context.fields.get("then"), { ...context, visit }), {
      onSuccess: (done) => ({ ...done, session }),
      onFailure: (refusal): ActionResult => ({ session, show: refusalVariation(refusal) })
    })
  }

  return {
    /** Sends a code, and shows where to type it. */
    sendCode: ({ visit, fields }: ActionRequest): Run => {
      const to = addressIn(fields)
      const payload = { [to.channel]: to.value }
      return api.run(callerOf(visit), "auth", "requestOneTimeCode", { payload }).pipe(
        Effect.map(({ requestId }): ActionResult => {
          const sent = { to, requestId }
          return { show: { screen: (scene) => codeScreen(scene, sent, nextActionIn(fields)) } }
        }),
        Effect.catchTag("Refusal", (refusal) => {
          const shown = refusal.status === 400 ? new Refusal({ status: 400, code: wrong[to.channel] }) : refusal
          const screen = (scene: Scene) => signInScreen(scene, nextActionIn(fields), to)
          return Effect.succeed<ActionResult>({ show: { refusal: shown, screen } })
        })
      )
    },

    /** Signs in with the code. A wrong one can be typed again. */
    code: (context: ActionRequest): Run =>
      Effect.matchEffect(verified(api, sessions, context), {
        onSuccess: (session) => signedIn(context, session),
        onFailure: (refusal) => {
          const { fields } = context
          const sent = { to: addressIn(fields), requestId: fields.get("request") ?? "" }
          const screen = (scene: Scene) => codeScreen(scene, sent, nextActionIn(fields))
          return Effect.succeed<ActionResult>({ show: { refusal, screen } })
        }
      }),

    accessCode: (context: ActionRequest): Run => showCode(api, runner, context),

    signOut: ({ visit }: ActionRequest): Run =>
      visit.session === undefined
        ? Effect.succeed({ isOut: true })
        : Effect.as(api.run(callerOf(visit), "auth", "logout", {}), { isOut: true } as const)
  }
}
