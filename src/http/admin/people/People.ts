/** The handlers of people on the Admin API. */
import { Effect, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Organizations } from "../../../auth/keys/Organizations.ts"
import { Delivery } from "../../../delivery/Delivery.ts"
import * as Message from "../../../delivery/Message.ts"
import { type Person, Settings } from "../../../domain/organization/Person.ts"
import { normalizedEmail } from "../../../domain/values/Email.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { People, type PersonTaken } from "../../../store/organization/People.ts"
import { answering } from "../../errors/Answering.ts"
import { Conflict } from "../../../api/Errors.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { revising } from "../records/Settings.ts"

export const PeopleHandlers = HttpApiBuilder.group(AdminApi, "people", (handlers) =>
  Effect.gen(function* () {
    const people = yield* People
    const sendInvitation = yield* makeSendInvitation

    return handlers.handleAll({
      createPerson: ({ payload }) =>
        forTenant((tenant, by) =>
          // The declaration has checked the address.
          people.create(tenant, by, revised({}, { ...payload, email: normalizedEmail(payload.email)! })).pipe(
            Effect.tap((person) => sendInvitation(tenant, person)),
            orEmailTaken
          )
        ),

      listPeople: onList((tenant, query) => people.list(tenant, query, query)),

      getPerson: onRecord(people.find),

      changePerson: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => people.change(tenant, id, by, (settings) => revised(settings, payload))),

      archivePerson: onRecord((tenant, id, by) => Effect.map(people.archive(tenant, id, by), ({ record }) => record)),

      restorePerson: onRecord((tenant, id, by) => people.restore(tenant, id, by).pipe(orEmailTaken))
    })
  })
)

const revised = revising<Settings>(Settings.fields)

/** Makes the function that mails an invitation. One that cannot be sent changes nothing: the person can sign in. */
const makeSendInvitation = Effect.gen(function* () {
  const delivery = yield* Delivery
  const organizations = yield* Organizations
  return Effect.fnUntraced(function* (tenant: Tenant, { email, role }: Person) {
    const { name } = Option.getOrThrow(yield* organizations.find(tenant.organizationId))
    yield* delivery.send(Message.invitation({ tenant, to: email, organization: name, role }))
  })
})

/** Turns an address that another person has into a 409. */
const orEmailTaken = answering({
  PersonTaken: (_: PersonTaken) => new Conflict({ error: "Email is another person's", code: "EMAIL_TAKEN" })
})
