// The functions of CPython's stable ABI (3.11) that the bridge calls, declared here so that no adapter needs Python's
// headers. The interpreter that loads the library provides them. https://docs.python.org/3/c-api/stable.html
#pragma once

#include <cstddef>

extern "C" {

using Py_ssize_t = std::ptrdiff_t;
struct PyObject;
struct PyThreadState;

struct Py_buffer {
  void* buf;
  PyObject* obj;
  Py_ssize_t len;
  Py_ssize_t itemsize;
  int readonly;
  int ndim;
  char* format;
  Py_ssize_t* shape;
  Py_ssize_t* strides;
  Py_ssize_t* suboffsets;
  void* internal;
};

struct PyMethodDef {
  const char* name;
  PyObject* (*function)(PyObject* self, PyObject* argument);
  int flags;
  const char* doc;
};

extern PyObject _Py_NoneStruct;
extern PyObject* PyExc_TimeoutError;

void Py_IncRef(PyObject*);
void Py_DecRef(PyObject*);
int PyGILState_Ensure();
void PyGILState_Release(int);
PyThreadState* PyEval_SaveThread();
void PyEval_RestoreThread(PyThreadState*);
PyObject* PyObject_GetAttrString(PyObject*, const char*);
PyObject* PyObject_Call(PyObject*, PyObject* arguments, PyObject* keywords);
PyObject* PyObject_Str(PyObject*);
int PyObject_GetBuffer(PyObject*, Py_buffer*, int flags);
void PyBuffer_Release(Py_buffer*);
PyObject* PyMemoryView_FromMemory(char*, Py_ssize_t, int flags);
PyObject* PyCFunction_NewEx(PyMethodDef*, PyObject* self, PyObject* module);
PyObject* PyTuple_New(Py_ssize_t);
int PyTuple_SetItem(PyObject*, Py_ssize_t, PyObject* stolen);
PyObject* PyUnicode_FromStringAndSize(const char*, Py_ssize_t);
const char* PyUnicode_AsUTF8AndSize(PyObject*, Py_ssize_t*);
PyObject* PyFloat_FromDouble(double);
PyObject* PyLong_FromSize_t(std::size_t);
PyObject* PyLong_FromVoidPtr(void*);
void* PyLong_AsVoidPtr(PyObject*);
std::size_t PyLong_AsSize_t(PyObject*);
int PyObject_IsTrue(PyObject*);
PyObject* PyErr_Occurred();
int PyErr_ExceptionMatches(PyObject*);
void PyErr_Fetch(PyObject** type, PyObject** value, PyObject** traceback);
void PyErr_NormalizeException(PyObject** type, PyObject** value, PyObject** traceback);
void PyErr_Clear();
}
