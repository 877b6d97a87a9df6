/** The people of the dashboard on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Person, Role, Settings, personSorts } from "../../domain/organization/Person.ts"
import { EmailText } from "../../domain/values/Email.ts"
import { Conflict, NotFound } from "../Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery, archivedQuery } from "./Lists.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { operationsOn } from "./RecordApi.ts"

/** The body of `POST /people`. */
export const InvitePerson = Schema.Struct({
  ...createFields(Settings.fields, ["role"]),
  email: EmailText
}).annotate({ identifier: "InvitePerson" })

const { email: _, ...changeable } = Settings.fields

/** The body of `PUT /people/{id}`. */
export const ChangePerson = Schema.Struct(changeFields(changeable, ["role"])).annotate({ identifier: "ChangePerson" })

const person = operationsOn(Person, { name: "Person", aNoun: "a person", path: "people" })

const taken = "An address that another person has is refused (409 `EMAIL_TAKEN`)."

export class PeopleApi extends HttpApiGroup.make("people")
  .add(
    person.create({
      payload: InvitePerson,
      error: Conflict,
      description: `Invites the person by email. It signs in at the dashboard with its address and a mailed code. ${taken}`
    }),
    HttpApiEndpoint.get("listPeople", "/people", {
      query: {
        ...listQuery(personSorts),
        ...searchQuery("email and name"),
        ...archivedQuery,
        role: Schema.optionalKey(Role)
      },
      success: pageOf(Person).annotate({ identifier: "PersonPage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List people",
        description: "Lists people who may use the dashboard, or with `archived=true` those who were removed."
      })
    ),
    person.get(),
    person.change({
      payload: ChangePerson,
      description:
        "Send only the fields to change. A role applies from the person's next request on. The address cannot be " +
        "changed: invite the new address as another person."
    }),
    person.archive({ description: "The person's sessions end at once, and the person cannot sign in." }),
    person.restore({ error: [NotFound, Conflict], description: `The person may sign in again. ${taken}` })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "People",
      description:
        "People who may use the dashboard in the mode of the caller's key, and their roles. Records and events name them " +
        "as `operator:<id>`."
    })
  ) {}
