defmodule App.Store do
  @moduledoc """
  def no do
  end
  """
  @type id :: integer
  @callback open(id) :: :ok
  defstruct [:a]
  def open(path, opts \\ []) when is_binary(path) do
    case path do
      _ -> :ok
    end
  end
  defp size(%{a: a}), do: a
  defmacro check(x) do
    quote do: unquote(x)
  end
  def empty?(s), do: true
end
