/**
 * Experiences on the Admin API: the contract (completions 4, "Experiences").
 */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Experience, Settings } from "../../domain/Experience.ts"
import { Id } from "../../domain/Ids.ts"
import * as Experiences from "../../store/Experiences.ts"
import { NotFound } from "../Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery } from "./Lists.ts"
import { changeFields, createFields, notAvailableYet } from "./Payloads.ts"

const later = notAvailableYet(["accessCode", "products", "sequences"])

/** The body of `POST /experiences`. */
export const CreateExperience = Schema.Struct({ ...createFields(Settings.fields, ["name"]), ...later }).annotate({
  identifier: "CreateExperience"
})

/** The body of `PUT /experiences/{id}`. */
export const ChangeExperience = Schema.Struct({ ...changeFields(Settings.fields, ["name"]), ...later }).annotate({
  identifier: "ChangeExperience"
})

export class ExperienceApi extends HttpApiGroup.make("experiences")
  .add(
    HttpApiEndpoint.post("createExperience", "/experiences", {
      payload: CreateExperience,
      success: Experience.pipe(HttpApiSchema.status(201))
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Create an experience",
        description:
          "Time zone and currency default to the organization's, else UTC and USD. Without `openAt` or `closeAt` the experience's window is that of its mechanisms."
      })
    ),
    HttpApiEndpoint.get("listExperiences", "/experiences", {
      query: { ...listQuery(Experiences.shape), ...searchQuery("the name") },
      success: pageOf(Experience).annotate({ identifier: "ExperiencePage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List experiences",
        description: "All that are not archived. Sorted by `openAt`, those without one come last."
      })
    ),
    HttpApiEndpoint.get("getExperience", "/experiences/:id", {
      params: { id: Id },
      success: Experience,
      error: NotFound
    }).annotateMerge(OpenApi.annotations({ summary: "Get an experience" })),
    HttpApiEndpoint.put("changeExperience", "/experiences/:id", {
      params: { id: Id },
      payload: ChangeExperience,
      success: Experience,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change an experience",
        description:
          "Send the fields to change: one that is absent keeps its value, null takes an optional one back to its default."
      })
    ),
    HttpApiEndpoint.delete("archiveExperience", "/experiences/:id", {
      params: { id: Id },
      success: Experience,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Archive an experience",
        description:
          "Ends and archives its mechanisms, archives its sequences and then itself, and answers the archived record. It is not found any more afterwards."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Experiences",
      description: "A release: what it is called and how it looks. Its sequences say for whom, its mechanisms how."
    })
  ) {}
