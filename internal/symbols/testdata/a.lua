local M = {}
M.limit = 3
local function helper(a)
  return function() end
end
function M.open(path)
  local s = [[function no() end]]
end
function M:close() end
M.run = function(x)
  if x then return end
end
--[[ function no() end ]]
