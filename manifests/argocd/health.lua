-- The health of a resource of the Hub Operator for Argo CD, by its conditions.
local health = {}
if obj.spec ~= nil and obj.spec.suspend == true then
  health.status = "Suspended"
  health.message = "spec.suspend is true."
  return health
end
local conditions = {}
if obj.status ~= nil and obj.status.conditions ~= nil then
  for _, condition in ipairs(obj.status.conditions) do
    conditions[condition.type] = condition
  end
end
local ready = conditions.Ready
if ready ~= nil and ready.reason == "DryRun" then
  health.status = "Suspended"
  health.message = ready.message
  return health
end
-- Until the operator has seen a change, the conditions are those of the former spec.
if ready == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  health.status = "Progressing"
  health.message = "Waiting for the operator."
  return health
end
health.message = ready.message
if conditions.Stalled ~= nil and conditions.Stalled.status == "True" then
  health.status = "Degraded"
elseif ready.status == "True" then
  health.status = "Healthy"
else
  health.status = "Progressing"
end
return health
